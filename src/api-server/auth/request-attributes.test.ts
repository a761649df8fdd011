import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseRequestInfo } from '../rest/request-info.ts'
import { toAskedAttributes, toAttributes } from './request-attributes.ts'

const user = { name: 'u', groups: [] }

function read(method: string, target: string) {
  const { verb, resource, name, fields } = toAttributes(user, parseRequestInfo(method, target))
  return [verb, resource, name, fields]
}

describe('toAttributes()', () => {
  const rows: readonly (readonly [method: string, target: string, result: unknown])[] = [
    ['GET', '/api/v1/nodes/a', ['get', 'nodes', 'a', {}]],
    ['GET', '/api/v1/nodes', ['list', 'nodes', '', {}]],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name%3Da', ['list', 'nodes', 'a', { 'metadata.name': 'a' }]],
    ['GET', '/api/v1/nodes?watch=1&fieldSelector=metadata.name==a', ['watch', 'nodes', 'a', { 'metadata.name': 'a' }]],
    [
      'GET',
      '/api/v1/pods?fieldSelector=spec.nodeName=n,status.phase!=Failed',
      ['list', 'pods', '', { 'spec.nodeName': 'n' }],
    ],
    // What is not an equality says nothing.
    ['GET', '/api/v1/pods?fieldSelector=spec.nodeName!=n', ['list', 'pods', '', {}]],
    ['GET', '/api/v1/pods?fieldSelector=spec.nodeName!=x\\,metadata.name=a', ['list', 'pods', '', {}]],
    ['GET', '/api/v1/pods?fieldSelector=spec.nodeName=', ['list', 'pods', '', {}]],
    // Another reader might take the other one.
    ['GET', '/api/v1/pods?fieldSelector=&fieldSelector=spec.nodeName=n', ['list', 'pods', '', {}]],
    // A selector is nothing to a request for one object.
    ['GET', '/api/v1/nodes/a?fieldSelector=metadata.name=b', ['get', 'nodes', 'a', {}]],
    ['POST', '/api/v1/nodes?fieldSelector=metadata.name=b', ['create', 'nodes', '', {}]],
    ['DELETE', '/api/v1/nodes', ['deletecollection', 'nodes', '', {}]],
  ]
  for (const [method, target, result] of rows) {
    test(`${method} ${target}`, () => assert.deepEqual(read(method, target), result))
  }
})

describe('toAskedAttributes()', () => {
  test('reads selectors in either form', () => {
    const requirements = [{ key: 'spec.nodeName', operator: 'In', values: ['n'] }]
    const ask = (fieldSelector: object) =>
      toAskedAttributes({ user, resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector } }).fields
    assert.deepEqual(ask({ requirements }), { 'spec.nodeName': 'n' })
    assert.deepEqual(ask({ rawSelector: 'spec.nodeName=n' }), { 'spec.nodeName': 'n' })
    assert.deepEqual(ask({ requirements: [{ key: 'spec.nodeName', operator: 'NotIn', values: ['n'] }] }), {})
  })

  test('reads paths', () => {
    const { isResource, verb, path } = toAskedAttributes({ user, nonResourceAttributes: { verb: 'get', path: '/x' } })
    assert.deepEqual([isResource, verb, path], [false, 'get', '/x'])
  })
})
