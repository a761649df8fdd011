import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EndpointError, parseEndpoint } from './parse-endpoint.ts'

describe('parseEndpoint()', () => {
  const good = [
    ['unix:///run/containerd/containerd.sock', { socketPath: '/run/containerd/containerd.sock', bare: false }],
    ['/run/crio.sock', { socketPath: '/run/crio.sock', bare: true }],
    [`unix:///${'a'.repeat(106)}`, { socketPath: `/${'a'.repeat(106)}`, bare: false }],
  ] as const
  for (const [text, expected] of good) {
    test(`takes "${text}"`, () => assert.deepEqual(parseEndpoint(text), expected))
  }

  const bad = [
    ['', 'expected unix:///path/to/socket'],
    ['/', 'expected unix:///path/to/socket'],
    ['unix://', 'expected unix:///path/to/socket'],
    ['unix:///', 'expected unix:///path/to/socket'],
    ['unix://relative/path', 'expected unix:///path/to/socket'],
    ['unix:/run/x.sock', 'expected unix:///path/to/socket'],
    ['tcp://127.0.0.1:1234', 'expected unix:///path/to/socket'],
    ['npipe:////./pipe/containerd', 'expected unix:///path/to/socket'],
    [`/${'a'.repeat(107)}`, 'path has 108 bytes, expected at most 107'],
    [`/${'é'.repeat(54)}`, 'path has 109 bytes, expected at most 107'],
  ] as const
  for (const [text, why] of bad) {
    test(`refuses "${text}"`, () => {
      assert.throws(() => parseEndpoint(text), new EndpointError(`Cannot use runtime endpoint "${text}": ${why}`))
    })
  }
})
