import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { resolvePort } from './resolve-port.ts'

const container = { ports: [{ name: 'web', containerPort: 8080 }, { containerPort: 1 }] }

describe('resolvePort()', () => {
  for (const [port, number] of [
    [80, 80],
    ['80', 80],
    ['web', 8080],
  ] as const) {
    test(`${JSON.stringify(port)} is ${number}`, () => assert.equal(resolvePort(port, container), number))
  }

  for (const [port, message] of [
    ['other', 'Cannot use port "other": the container has no port of this name'],
    ['', 'Cannot use port "": the container has no port of this name'],
    [0, 'Cannot use port "0": expected a number from 1 to 65535'],
    ['65536', 'Cannot use port "65536": expected a number from 1 to 65535'],
  ] as const) {
    test(`${JSON.stringify(port)} is refused`, () => assert.throws(() => resolvePort(port, container), { message }))
  }

  test('a container without ports has none by name', () => assert.throws(() => resolvePort('web', {})))
})
