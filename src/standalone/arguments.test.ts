import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseArguments } from './arguments.ts'
import type { UpOptions } from './arguments.ts'
import { exitCodes, NodeError } from './node/node-error.ts'

const up: UpOptions = {
  state: '/var/lib/deckhand',
  manifests: undefined,
  apply: undefined,
  runtime: undefined,
  kubelet: undefined,
  cgroupRoot: undefined,
  ports: { kubernetes: 6443, agent: 10250, healthz: 10248 },
}

describe('parseArguments()', () => {
  for (const [line, expected] of [
    ['', { kind: 'help' }],
    ['help', { kind: 'help' }],
    ['up --help', { kind: 'help' }],
    ['--version', { kind: 'version' }],
    ['up', { kind: 'up', options: up }],
    [
      'up --state here --manifests ../pods',
      { kind: 'up', options: { ...up, state: '/home/me/here', manifests: '/home/pods' } },
    ],
    ['up --apply all', { kind: 'up', options: { ...up, apply: '/home/me/all' } }],
    ['up --runtime /run/c.sock', { kind: 'up', options: { ...up, runtime: 'unix:///run/c.sock' } }],
    ['up --runtime unix:///run/c.sock', { kind: 'up', options: { ...up, runtime: 'unix:///run/c.sock' } }],
    ['up --kubelet bin/kubelet', { kind: 'up', options: { ...up, kubelet: '/home/me/bin/kubelet' } }],
    ['up --cgroup-root /a/b', { kind: 'up', options: { ...up, cgroupRoot: '/a/b' } }],
    [
      'up --api-port 7 --port 1 --healthz-port 65535',
      { kind: 'up', options: { ...up, ports: { kubernetes: 7, agent: 1, healthz: 65_535 } } },
    ],
    ['down', { kind: 'down', state: '/var/lib/deckhand', purge: false }],
    ['down --purge --state /s/', { kind: 'down', state: '/s', purge: true }],
    [
      'shutdown',
      { kind: 'shutdown', options: { state: '/var/lib/deckhand', rootDirectory: undefined, cancel: false } },
    ],
    [
      'shutdown --root-dir kubelet --cancel',
      { kind: 'shutdown', options: { state: '/var/lib/deckhand', rootDirectory: '/home/me/kubelet', cancel: true } },
    ],
    ['status', { kind: 'status', state: '/var/lib/deckhand' }],
  ] as const) {
    test(`reads "${line}"`, () => {
      const args = line.split(' ').filter((word) => word !== '')
      assert.deepEqual(parseArguments(args, '/home/me'), expected)
    })
  }

  for (const [line, message] of [
    ['frob', /^Cannot do "frob": expected up, down/],
    ['up now', /^Cannot read the arguments: /],
    ['up --purge', /^Cannot read the arguments: .*--purge/],
    ['status --runtime x', /^Cannot read the arguments: /],
    ['up --port 0', /^Cannot use --port "0": expected a number from 1 to 65535/],
    ['up --healthz-port 65536', /^Cannot use --healthz-port/],
    ['up --runtime tcp://1.2.3.4', /^Cannot use --runtime "tcp/],
    ['up --cgroup-root /', /^Cannot use --cgroup-root/],
    ['up --cgroup-root /a/../..', /^Cannot use --cgroup-root/],
    ['up --cgroup-root a', /^Cannot use --cgroup-root/],
  ] as const) {
    test(`rejects "${line}"`, () => {
      assert.throws(
        () => parseArguments(line.split(' '), '/home/me'),
        (error: unknown) => {
          assert.ok(error instanceof NodeError)
          assert.equal(error.exitCode, exitCodes.wrongArguments)
          assert.match(error.message, message)
          return true
        },
      )
    })
  }
})
