import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { criServices } from './cri-methods.ts'
import { findReplyFault } from './find-reply-fault.ts'
import type { CriMethod, CriResponse } from './cri-methods.ts'
import type { DeepPartial } from './generated/runtime-v1.ts'

const methods = { ...criServices.runtime.methods, ...criServices.image.methods }

function faultOf<M extends CriMethod>(method: M, reply: DeepPartial<CriResponse<M>>): string | undefined {
  const codec = methods[method].responseType as unknown as { fromPartial(value: unknown): CriResponse<M> }
  return findReplyFault(method, codec.fromPartial(reply))
}

const version = { version: '0.1.0', runtimeName: 'containerd', runtimeVersion: '1.6', runtimeApiVersion: 'v1' }
const sandbox = { id: 's', metadata: { name: 'n', namespace: 'ns', uid: 'u' }, createdAt: 1n }
const container = { id: 'c', metadata: { name: 'n' }, createdAt: 1n, image: { image: 'i' }, imageRef: 'r' }

describe('findReplyFault()', () => {
  const rows: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ['complete version', faultOf('version', version), undefined],
    ['version without name', faultOf('version', { ...version, runtimeName: '' }), 'reply lacks runtime_name'],
    ['sandbox without id', faultOf('runPodSandbox', {}), 'reply lacks pod_sandbox_id'],
    ['complete sandbox status', faultOf('podSandboxStatus', { status: sandbox }), undefined],
    ['no sandbox status', faultOf('podSandboxStatus', {}), 'reply lacks status'],
    [
      'sandbox status without uid',
      faultOf('podSandboxStatus', { status: { ...sandbox, metadata: { name: 'n', namespace: 'ns' } } }),
      'reply lacks status.metadata.uid',
    ],
    [
      'sandbox status without time',
      faultOf('podSandboxStatus', { status: { ...sandbox, createdAt: 0n } }),
      'reply lacks status.created_at',
    ],
    ['created container without id', faultOf('createContainer', {}), 'reply lacks container_id'],
    ['complete container status', faultOf('containerStatus', { status: container }), undefined],
    [
      'container status without image',
      faultOf('containerStatus', { status: { ...container, image: {} } }),
      'reply lacks status.image.image',
    ],
    ['exec without url', faultOf('exec', {}), 'reply lacks url'],
    [
      'status with one condition',
      faultOf('status', { status: { conditions: [{}] } }),
      'reply lacks two of status.conditions',
    ],
    ['status with two conditions', faultOf('status', { status: { conditions: [{}, {}] } }), undefined],
    ['absent image', faultOf('imageStatus', {}), undefined],
    ['image of no size', faultOf('imageStatus', { image: { id: 'i' } }), 'reply lacks image.size'],
    ['pull without reference', faultOf('pullImage', {}), 'reply lacks image_ref'],
    ['empty list', faultOf('listContainers', {}), undefined],
  ]
  for (const [name, actual, expected] of rows) {
    test(`${name}: ${expected ?? 'good'}`, () => assert.equal(actual, expected))
  }
})
