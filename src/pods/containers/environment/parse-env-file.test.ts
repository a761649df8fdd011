import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { arbitraryText } from '../../../../test/builders/arbitrary-text.ts'
import { parseEnvFile } from './parse-env-file.ts'

const rows: readonly (readonly [string, file: string, value: string | undefined])[] = [
  ['a value', "K='v'\n", 'v'],
  ['a last line without an end', "K='v'", 'v'],
  ['blanks in front of a name', " \t K='v'", 'v'],
  ['lines before it that are empty, blank or comments', "\n  \t\n# K='x'\n  # y\nK='v'", 'v'],
  ['other variables before it', "A='1'\nB='K=x'\nK='v'", 'v'],
  ['the first of two', "K='v'\nK='w'", 'v'],
  ['a comment after the value', "K='v' # it's fine", 'v'],
  ['a comment right after the quote', "K='v'#x", 'v'],
  ['blanks after the value', "A='1' \t\nK='v'  ", 'v'],
  ['a value with blanks, signs and quotes of the other kind', `K=' a = "b" #c $D \${E} ä '`, ' a = "b" #c $D ${E} ä '],
  ['backslashes, which mean nothing', String.raw`K='a\nb\\'`, String.raw`a\nb\\`],
  ['a value of several lines', "K='a\n  b\n\n# c\nA=d'\nA='x'", 'a\n  b\n\n# c\nA=d'],
  ['lines that end as on Windows', "# x\r\nA='1'\r\nK='a\r\nb'\r\n", 'a\nb'],
  ['what comes before something broken', "K='v'\nbroken", 'v'],
  ['a blank inside of a name, which is another name', "export K='x'\nK='v'", 'v'],
  ['nothing in an empty file', '', undefined],
  ['nothing of other variables', "AK='x'\nKA='x'\nk='x'", undefined],
  ['nothing of an empty value', "K=''\nK='v'", undefined],
  ['nothing when a blank follows the "="', "K= 'v'", undefined],
  ['nothing of a variable inside a value', "A='\nK='\n", undefined],
  ['what follows a variable with a blank after the "="', "A= it's\nK='v'", 'v'],
]

const failures: readonly (readonly [string, file: string, message: string])[] = [
  ['a line without "="', "A='1'\n\nK\nK='v'", 'line 3: expected a "=" after the name'],
  ['a line without a name', "='v'", 'line 1: expected a name before the "="'],
  ['a line with blanks for a name', "  ='v'", 'line 1: expected a name before the "="'],
  ['a blank before "="', "K ='v'", 'line 1: expected no blank before the "="'],
  ['a value without quotes', "A='a\nb'\nK=v", 'line 3: expected a value in single quotes'],
  ['a value in double quotes', 'K="v"', 'line 1: expected a value in single quotes'],
  ['no value at all', "K=\nA='1'", 'line 1: expected a value in single quotes'],
  ['a quote without an end', "K='v\n", 'line 1: expected a second quote after the value'],
  ['text after the value', "K='v'w", 'line 1: expected nothing but a comment after the value'],
  ['two values', "K='v''w'", 'line 1: expected nothing but a comment after the value'],
  ['a quote that was forgotten', "A='v\nK='w'", 'line 2: expected nothing but a comment after the value'],
]

describe('parseEnvFile()', () => {
  for (const [name, file, value] of rows) test(`finds ${name}`, () => assert.equal(parseEnvFile(file, 'K'), value))

  for (const [name, file, message] of failures)
    test(`rejects ${name}`, () => assert.throws(() => parseEnvFile(file, 'K'), { message }))

  test('gives every value back that has no single quote, wherever it stands', () => {
    const value = arbitraryText({ minLength: 1 }).map((text) => text.replaceAll(/['\r]/g, '-'))
    fc.assert(
      fc.property(value, fc.array(value), (wanted, others) => {
        const lines = others.map((other, index) => `N${index}='${other}'`)
        assert.equal(parseEnvFile([...lines, `K='${wanted}'`].join('\n'), 'K'), wanted)
      }),
    )
  })

  test('answers with a value, nothing or the number of a line for any text', () => {
    const piece = fc.constantFrom('K', '=', "'", '\n', ' ', '#', '\r', 'x')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          parseEnvFile(pieces.join(''), 'K')
        } catch (error) {
          assert.match((error as Error).message, /^line \d+: expected /)
        }
      }),
    )
  })
})
