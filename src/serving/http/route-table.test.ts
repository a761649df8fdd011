import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RouteTable } from './route-table.ts'
import type { Route } from './route.ts'

const handle = async () => {}
const routes: readonly Route[] = [
  { path: '/exec/:namespace/:pod/:container', methods: ['GET', 'POST'], handle },
  { path: '/exec/:namespace/:pod/:uid/:container', methods: ['GET', 'POST'], handle },
  { path: '/metrics', methods: 'any', handle },
  { path: '/metrics/probes', methods: 'any', handle },
  { path: '/logs', methods: ['GET'], handle },
  { path: '/logs/*path', methods: ['GET'], handle },
  { path: '/one', methods: ['GET'], handle },
  { path: '/one', methods: ['PUT'], handle },
]
const table = new RouteTable(routes)

test('RouteTable finds the endpoint, its parameters and its label', () => {
  const rows: readonly (readonly [string, string, object])[] = [
    [
      'GET',
      'exec/n/p/c',
      { path: routes[0]?.path, parameters: { namespace: 'n', pod: 'p', container: 'c' }, label: 'exec' },
    ],
    [
      'POST',
      'exec/n/p/u/c',
      { path: routes[1]?.path, parameters: { namespace: 'n', pod: 'p', uid: 'u', container: 'c' }, label: 'exec' },
    ],
    ['PUT', 'exec/n/p/c', { kind: 'wrongMethod', allowed: ['GET', 'POST'], label: 'exec' }],
    ['GET', 'exec/n', { kind: 'nothing', label: 'exec' }],
    ['WHATEVER', 'metrics/probes', { path: '/metrics/probes', parameters: {}, label: 'metrics/probes' }],
    ['GET', 'metrics/probes/x', { kind: 'nothing', label: 'metrics/probes' }],
    ['GET', 'logs', { path: '/logs', parameters: {}, label: 'logs' }],
    ['GET', 'logs/a/b', { path: '/logs/*path', parameters: { path: 'a/b' }, label: 'logs' }],
    ['PUT', 'one', { path: '/one', parameters: {}, label: 'one' }],
    ['POST', 'one', { kind: 'wrongMethod', allowed: ['GET', 'PUT'], label: 'one' }],
    ['GET', 'other', { kind: 'nothing', label: 'other' }],
  ]
  for (const [method, path, expected] of rows) {
    const found = table.find(method, path.split('/'))
    const shown =
      found.kind === 'found' ? { path: found.route.path, parameters: found.parameters, label: found.label } : found
    assert.deepEqual(shown, expected, path)
  }
})
