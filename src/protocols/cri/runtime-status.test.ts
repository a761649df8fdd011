import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { StatusResponse } from './generated/runtime-v1.ts'
import { parseRuntimeStatus } from './runtime-status.ts'

describe('parseRuntimeStatus()', () => {
  const runtimeReady = { type: 'RuntimeReady', status: true, reason: '', message: '' }
  const networkReady = { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady', message: 'no CNI' }
  const other = { type: 'ContainerdHasNoDeprecationWarnings', status: true, reason: '', message: '' }

  test('sorts the conditions', () => {
    const reply = StatusResponse.fromPartial({
      status: { conditions: [other, networkReady, runtimeReady] },
      runtimeHandlers: [{ name: 'runc', features: { userNamespaces: true } }],
    })
    assert.deepEqual(parseRuntimeStatus(reply), {
      runtimeReady,
      networkReady,
      otherConditions: [other],
      handlers: [{ name: 'runc', features: { recursiveReadOnlyMounts: false, userNamespaces: true } }],
      features: undefined,
    })
  })

  test('leaves open what is not reported', () => {
    assert.deepEqual(parseRuntimeStatus(StatusResponse.fromPartial({})), {
      runtimeReady: undefined,
      networkReady: undefined,
      otherConditions: [],
      handlers: [],
      features: undefined,
    })
  })
})
