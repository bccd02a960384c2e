const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 of the text's UTF-8 bytes. Written out, because this package knows neither Node nor a browser. */
export function base64OfUtf8(text: string): string {
  const bytes = utf8Of(text);
  let encoded = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b, c] = bytes.slice(i, i + 3);
    const bits = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    encoded += ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63);
    encoded += b === undefined ? '=' : ALPHABET.charAt((bits >> 6) & 63);
    encoded += c === undefined ? '=' : ALPHABET.charAt(bits & 63);
  }
  return encoded;
}

function utf8Of(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    // A lone surrogate becomes U+FFFD, as every encoder does it.
    const given = character.codePointAt(0) ?? 0;
    const code = given >= 0xd800 && given <= 0xdfff ? 0xfffd : given;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x1_0000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else {
      bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63));
      bytes.push(0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
  }
  return bytes;
}
