import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toYamlScalar } from './yaml-scalar.ts'

test('toYamlScalar() reads plain scalars as Go does', () => {
  const rows: readonly (readonly [string, unknown])[] = [
    ['', null],
    ['null', null],
    ['yes', true],
    ['n', false],
    ['yEs', 'yEs'],
    ['12', 12],
    ['+12', 12],
    ['-0x1F', -31],
    ['0b101', 5],
    ['0o17', 15],
    ['017', 15],
    ['089', 89],
    ['1_000', 1000],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['1e3', 1000],
    ['1.2.3', '1.2.3'],
    ['1:30', '1:30'],
    ['2026-01-31', '2026-01-31'],
    ['2026-01-31T00:00:00Z', '2026-01-31T00:00:00Z'],
    ['100m', '100m'],
    ['-', '-'],
    ['18446744073709551616', 18446744073709551616n],
    ['.inf', '.inf'],
  ]
  for (const [source, expected] of rows) assert.equal(toYamlScalar(source), expected, source)
})
