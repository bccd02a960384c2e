/** Many pieces of bytes as one parameter of a statement, which the store cuts up again. */
export interface ByteBlock {
  readonly block: Buffer;
  /** Where each piece begins; SQL counts from 1. */
  readonly firsts: readonly number[];
  /** Null where there is no piece. */
  readonly sizes: readonly (number | null)[];
}

/** A parameter for each piece would take several times as long, on both sides. */
export function byteBlock(pieces: readonly (Uint8Array | undefined)[]): ByteBlock {
  const firsts: number[] = [];
  let end = 0;
  for (const piece of pieces) {
    firsts.push(end + 1);
    end += piece?.length ?? 0;
  }
  const block = Buffer.concat(
    pieces.filter((piece) => piece !== undefined),
    end,
  );
  return { block, firsts, sizes: pieces.map((piece) => piece?.length ?? null) };
}
