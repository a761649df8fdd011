import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Container, ContainerState, ContainerStatus } from '../cri/generated/runtime-v1.ts'
import { hasListedState, toObservedContainer } from './to-observed.ts'

const listed = Container.fromPartial({ id: 'c', labels: { 'io.kubernetes.container.name': 'main' } })
const exited = (fields: Partial<ContainerStatus>) =>
  toObservedContainer(
    listed,
    ContainerStatus.fromPartial({ id: 'c', state: ContainerState.CONTAINER_EXITED, finishedAt: 5_000_000n, ...fields }),
  )

describe('toObservedContainer()', () => {
  test('tells a start that was broken off from one that failed', () => {
    const rows = [
      [{ startedAt: 0n, reason: 'StartError', message: 'failed to create shim task: context canceled' }, 'created'],
      [{ startedAt: 0n, reason: 'StartError', message: 'start failed: : signal: killed: unknown' }, 'created'],
      [{ startedAt: 0n, reason: 'StartError', message: 'exec: "nope": not found' }, 'exited'],
      [{ startedAt: 1_000_000n, reason: 'Error', message: 'context canceled' }, 'exited'],
    ] as const
    for (const [fields, state] of rows) assert.equal(exited({ exitCode: 128, ...fields }).state, state, fields.message)
  })
})

describe('hasListedState()', () => {
  test('knows a start that was broken off by the state that the runtime gives it', () => {
    const broken = exited({ startedAt: 0n, reason: 'StartError', message: 'context canceled' })
    assert.equal(hasListedState(broken, ContainerState.CONTAINER_EXITED), true)
    assert.equal(hasListedState(broken, ContainerState.CONTAINER_RUNNING), false)
    const created = { ...broken, finishedAt: 0 }
    assert.equal(hasListedState(created, ContainerState.CONTAINER_EXITED), false)
    assert.equal(hasListedState(created, ContainerState.CONTAINER_CREATED), true)
  })
})
