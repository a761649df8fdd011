import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeProbePort } from './compute-probe-port.ts'

const container = {
  ports: [
    { name: 'web', containerPort: 8080 },
    { containerPort: 9090 },
    { name: '81', containerPort: 8181 },
    { name: 'odd', containerPort: 70_000 },
  ],
}

describe('computeProbePort()', () => {
  const rows: readonly (readonly [name: string, port: number | string, expected: number])[] = [
    ['a number is itself, whether the container names it or not', 80, 80],
    ['a name is a port of the container', 'web', 8080],
    ['digits are a number', '443', 443],
    ['digits that are a name are that port', '81', 8181],
    ['the largest', 65_535, 65_535],
  ]
  for (const [name, port, expected] of rows) {
    test(name, () => assert.equal(computeProbePort(port, container), expected))
  }

  const wrong: readonly (readonly [port: number | string, message: RegExp])[] = [
    [0, /^Error: Cannot use port 0: expected a number from 1 to 65535$/],
    [65_536, /^Error: Cannot use port 65536/],
    ['odd', /^Error: Cannot use port 70000/],
    ['none', /^Error: Cannot find port "none": the container has no port of this name$/],
    ['', /^Error: Cannot find port ""/],
    ['-1', /^Error: Cannot find port "-1"/],
  ]
  for (const [port, message] of wrong) {
    test(`${JSON.stringify(port)} is refused`, () => assert.throws(() => computeProbePort(port, container), message))
  }

  test('a container without ports has no names', () => {
    assert.throws(() => computeProbePort('web', {}), /no port of this name/)
  })
})
