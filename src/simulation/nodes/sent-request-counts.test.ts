import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toNodeAddress, toPodAddress } from './addresses.ts'
import { formatReport } from './format-report.ts'
import { toRequestKind } from './sent-request-counts.ts'

describe('toRequestKind()', () => {
  for (const [method, target, isWatch, kind] of [
    ['GET', '/api/v1/nodes/a', false, 'GET nodes'],
    ['GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Da', false, 'LIST pods'],
    ['GET', '/api/v1/pods?watch=true', true, 'WATCH pods'],
    ['PATCH', '/api/v1/namespaces/shop/pods/a/status', false, 'PATCH pods/status'],
    ['GET', '/api/v1/namespaces/shop', false, 'GET namespaces'],
    ['PUT', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a', false, 'PUT leases'],
    ['POST', '/apis/events.k8s.io/v1/namespaces/shop/events', false, 'POST events'],
    ['DELETE', '/apis/resource.k8s.io/v1/resourceslices?x', false, 'DELETE resourceslices'],
  ] as const) {
    test(`${method} ${target} is ${kind}`, () => {
      assert.equal(toRequestKind({ method, target, isWatch }), kind)
    })
  }
})

test('formatReport() says what the time between two moments has cost', () => {
  const before = { at: 0, nodes: 10, readyNodes: 0, pods: 0, readyPods: 0, cpuMs: 100, memoryBytes: 0 }
  const now = {
    at: 10_000,
    nodes: 10,
    readyNodes: 9,
    pods: 20,
    readyPods: 18,
    cpuMs: 2100,
    memoryBytes: 50 * 1024 ** 2,
  }
  assert.equal(
    formatReport(
      { ...before, requests: new Map([['PUT leases', 5]]) },
      {
        ...now,
        requests: new Map([
          ['GET nodes', 5],
          ['PUT leases', 15],
        ]),
      },
    ),
    '10 s; nodes 10 (9 ready); pods 20 (18 ready); CPU 0.20 cores (20.00 ms/s a node); memory 50 MB (5120 kB a node); requests 1.5/s: PUT leases 1.0, GET nodes 0.5',
  )
})

test('no two nodes, and no two pods of a node, have the same address', () => {
  const nodes = Array.from({ length: 10_000 }, (_, index) => toNodeAddress(index))
  assert.equal(new Set(nodes).size, 10_000)
  assert.deepEqual([nodes[0], nodes[256], nodes[9999]], ['10.200.0.0', '10.200.1.0', '10.200.39.15'])
  const pods = [0, 1, 255, 256, 9999].flatMap((node) => [1, 2, 254].map((nth) => toPodAddress(node, nth)))
  assert.equal(new Set(pods).size, pods.length)
  assert.equal(toPodAddress(9999, 254), '100.103.15.254')
})
