import { describe, expect, it } from 'vitest';
import { jsonShapeOf } from './json-shape.js';

const shapeOf = (text: string) => jsonShapeOf(Buffer.from(text));

describe('jsonShapeOf', () => {
  it('counts nesting and parts of a plan', () => {
    expect(shapeOf('{"target":"http://127.0.0.1/","stages":[{"rate":1}]}')).toEqual({ depth: 3, parts: 7 });
    expect(shapeOf('3')).toEqual({ depth: 0, parts: 0 });
  });

  it('does not look into strings', () => {
    expect(shapeOf(String.raw`{"a":"[[[{,:\"[","b\\":1}`)).toEqual({ depth: 1, parts: 4 });
  });

  it('sees the depth of brackets that never end', () => {
    expect(shapeOf('['.repeat(100_000))).toEqual({ depth: 100_000, parts: 100_000 });
  });
});
