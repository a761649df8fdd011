import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isVersionAtLeast } from './is-version-at-least.ts'

describe('isVersionAtLeast()', () => {
  const rows: readonly (readonly [version: string, least: string, expected: boolean])[] = [
    ['6.1.0-18-amd64', '4.15', true],
    ['4.15.0', '4.15', true],
    ['4.5.7', '4.15', false],
    ['v2.1.0-rc.1', '2.1', true],
    ['1.6.20~ds1', '2.1', false],
    ['5', '4.15', true],
    ['a1b2c3d', '0.1', false],
    ['', '0.0', true],
  ]
  for (const [version, least, expected] of rows) {
    test(`"${version}" and ${least}: ${expected}`, () => assert.equal(isVersionAtLeast(version, least), expected))
  }
})
