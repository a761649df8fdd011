import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatUserNamespaceRecord, parseUserNamespaceRecord } from './user-namespace-record.ts'

const ids = [{ hostId: 131_072, containerId: 0, length: 65_536 }]
const TEXT =
  '{"uidMappings":[{"hostId":131072,"containerId":0,"length":65536}],"gidMappings":[{"hostId":131072,"containerId":0,"length":65536}]}'

describe('the record of a user namespace', () => {
  test("has the Go kubelet's form", () => {
    assert.equal(formatUserNamespaceRecord({ uids: ids, gids: ids }), TEXT)
    assert.deepEqual(parseUserNamespaceRecord(TEXT), { uids: ids, gids: ids })
  })

  const broken = [
    '',
    'null',
    '{}',
    TEXT.replace('131072', '"131072"'),
    TEXT.replace('65536', '-1'),
    TEXT.replace('0,', '0.5,'),
    TEXT.replace('gidMappings', 'gids'),
    '{"uidMappings":[],"gidMappings":[]}',
  ]
  for (const text of broken) {
    test(`is rejected as ${JSON.stringify(text)}`, () => assert.throws(() => parseUserNamespaceRecord(text)))
  }
})
