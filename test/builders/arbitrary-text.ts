import * as fc from 'fast-check'

// Of all that a text can hold; half a surrogate pair is none.
const codePoint = fc
  .integer({ min: 0, max: 0x10_ff_ff - 0x8_00 })
  .map((number) => String.fromCodePoint(number < 0xd8_00 ? number : number + 0x8_00))

/**
 * Any text, and now and then one that is special in JavaScript, as fc.string({ unit: 'binary' }) has them. That makes a table of all code points first,
 * which takes more time than a hundred runs.
 */
export function arbitraryText(options: { readonly minLength?: number } = {}): fc.Arbitrary<string> {
  return fc.oneof(
    { arbitrary: fc.string({ ...options, unit: codePoint }), weight: 4 },
    { arbitrary: fc.string(options), weight: 1 },
  )
}
