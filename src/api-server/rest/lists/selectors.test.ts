import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findResource } from '../../kinds/all-resources.ts'
import type { Resource } from '../../kinds/resource.ts'
import { parseFieldSelector } from './field-selector.ts'
import { parseLabelSelector } from './parse-label-selector.ts'

describe('parseLabelSelector()', () => {
  const labels = { app: 'web', tier: 'front', count: '5' }
  const rows: readonly (readonly [string, boolean])[] = [
    ['app=web', true],
    ['app==web', true],
    ['app = web , tier=front', true],
    ['app=api', false],
    ['app!=api', true],
    ['other!=x', true],
    ['app in (api, web)', true],
    ['app in (api)', false],
    ['app notin (api)', true],
    ['other notin (api)', true],
    ['app', true],
    ['other', false],
    ['!other', true],
    ['!app', false],
    ['count>4', true],
    ['count<5', false],
    ['app>4', false],
    ['constructor', false],
    ['tier in (front),app notin (x,y),!z', true],
    ['a=', false],
  ]
  for (const [text, expected] of rows) {
    test(`"${text}" ${expected ? 'selects' : 'does not select'}`, () =>
      assert.equal(parseLabelSelector(text)?.(labels), expected))
  }

  for (const text of ['app in (', 'a=b=c', '=x', 'a b', ',', 'a in x', 'count>x', 'UPPER/case/x=1', '__proto__']) {
    test(`rejects "${text}"`, () => assert.throws(() => parseLabelSelector(text), { name: 'ApiError' }))
  }

  test('has nothing to say when it is empty', () => {
    assert.equal(parseLabelSelector(null), undefined)
    assert.equal(parseLabelSelector(' '), undefined)
  })
})

describe('parseFieldSelector()', () => {
  const pods = findResource('', 'v1', 'pods') as Resource
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'n' },
    spec: { nodeName: 'x' },
    status: {},
  }
  const rows: readonly (readonly [string, boolean])[] = [
    ['metadata.name=a', true],
    ['metadata.name=a,metadata.namespace=n', true],
    ['metadata.name!=a', false],
    ['spec.nodeName==x', true],
    ['status.phase=', true],
    ['status.phase!=Running,spec.nodeName=x', true],
    ['spec.hostNetwork=false', true],
  ]
  for (const [text, expected] of rows) {
    test(`"${text}" ${expected ? 'selects' : 'does not select'}`, () =>
      assert.equal(parseFieldSelector(text, pods)?.matches(object), expected))
  }

  test('gives the one name that it can select', () => {
    assert.equal(parseFieldSelector('spec.nodeName=x,metadata.name=a', pods)?.name, 'a')
    assert.equal(parseFieldSelector('metadata.name!=a', pods)?.name, undefined)
  })

  for (const [text, word] of [
    ['spec.nodeName=node-1,metadata.namespace=n', 'node-1'],
    ['status.phase=Running,metadata.name=a', 'a'],
    ['spec.nodeName!=node-1', undefined],
    ['spec.nodeName=', undefined],
    ['spec.nodeName=a"b', undefined],
    ['spec.hostNetwork=false', undefined],
  ] as const) {
    test(`"${text}" selects only what contains ${word === undefined ? 'nothing in particular' : `"${word}"`}`, () =>
      assert.equal(parseFieldSelector(text, pods)?.word, word))
  }

  for (const [text, message] of [
    ['spec.containers=1', /field label not supported: spec\.containers/],
    ['metadata.name', /expected field=value/],
  ] as const) {
    test(`rejects "${text}"`, () => assert.throws(() => parseFieldSelector(text, pods), message))
  }
})
