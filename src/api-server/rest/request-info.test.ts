import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { negotiateForm, wantsAggregatedDiscovery } from './accept.ts'
import { parseRequestInfo } from './request-info.ts'

describe('parseRequestInfo()', () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['GET', '/api/v1/pods', 'list pods'],
    ['GET', '/api/v1/pods?watch=true', 'watch pods'],
    ['GET', '/api/v1/pods?watch=false', 'list pods'],
    ['GET', '/api/v1/namespaces/n/pods/p', 'get n pods p'],
    ['HEAD', '/api/v1/namespaces/n/pods/p', 'get n pods p'],
    ['PATCH', '/api/v1/namespaces/n/pods/p/status', 'patch n pods p status'],
    ['POST', '/api/v1/namespaces/n/pods', 'create n pods'],
    ['PUT', '/api/v1/namespaces/n', 'update namespaces n'],
    ['PUT', '/api/v1/namespaces/n/status', 'update namespaces n status'],
    ['DELETE', '/apis/coordination.k8s.io/v1/namespaces/n/leases', 'deletecollection coordination.k8s.io n leases'],
    ['DELETE', '/apis/storage.k8s.io/v1/csinodes/x', 'delete storage.k8s.io csinodes x'],
    ['GET', '/api/v1/namespaces/n/events/a%20b', 'get n events a b'],
    ['GET', '/api/v1/namespaces/n/pods/p/x/y', 'get /api/v1/namespaces/n/pods/p/x/y'],
    ['GET', '/api/v1//pods', 'get /api/v1//pods'],
    ['GET', '/api/v1', 'get /api/v1'],
    ['GET', '/apis/g/v1', 'get /apis/g/v1'],
    ['POST', '/version', 'post /version'],
  ]
  for (const [method, target, expected] of rows) {
    test(`${method} ${target}`, () => {
      const { isResource, verb, path, group, namespace, resource, name, subresource } = parseRequestInfo(method, target)
      const parts = isResource ? [group, namespace, resource, name, subresource] : [path]
      assert.equal([verb, ...parts].filter(Boolean).join(' '), expected)
    })
  }

  test('rejects a path that is wrongly encoded', () => {
    assert.throws(() => parseRequestInfo('GET', '/api/v1/pods/%zz'), /not correctly encoded/)
  })
})

describe('negotiateForm()', () => {
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const rows: readonly (readonly [string | undefined, string])[] = [
    [undefined, 'object'],
    ['*/*', 'object'],
    [`${table},application/json`, 'Table'],
    ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', 'object'],
    ['application/vnd.kubernetes.protobuf,application/json', 'object'],
    ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'PartialObjectMetadata'],
  ]
  for (const [header, expected] of rows) test(`${header}`, () => assert.equal(negotiateForm(header), expected))

  for (const header of ['image/png', 'application/vnd.kubernetes.protobuf', table.replace('Table', 'Chair')]) {
    test(`rejects ${header}`, () => assert.throws(() => negotiateForm(header), { name: 'ApiError' }))
  }
})

describe('wantsAggregatedDiscovery()', () => {
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  for (const [header, expected] of [
    [aggregated, true],
    [`${aggregated.replace('v2', 'v2beta1')},${aggregated},application/json`, true],
    [`application/json,${aggregated}`, false],
    ['application/json', false],
    [undefined, false],
  ] as const) {
    test(`${header}`, () => assert.equal(wantsAggregatedDiscovery(header), expected))
  }
})
