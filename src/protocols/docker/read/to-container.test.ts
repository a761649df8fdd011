import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ContainerState } from '../../cri/generated/runtime-v1.ts'
import type { InspectedContainer } from '../api/docker-types.ts'
import { parseDockerTime } from './parse-docker-time.ts'
import { toContainer, toContainerStatus } from './to-container.ts'

const NEVER = '0001-01-01T00:00:00Z'
const CREATED = '2026-01-01T00:00:00.5Z'
const STARTED = '2026-01-01T00:00:01.000000001Z'
const FINISHED = '2026-01-01T00:00:02Z'

function status(state: Partial<InspectedContainer['State']>) {
  const found = toContainerStatus(
    {
      Id: 'abc',
      Name: '/k8s_main_web_default_u1_2',
      Created: CREATED,
      Image: 'sha256:1',
      State: {
        Status: 'exited',
        Running: false,
        OOMKilled: false,
        Pid: 0,
        ExitCode: 0,
        Error: '',
        StartedAt: NEVER,
        FinishedAt: NEVER,
        ...state,
      },
      Config: { Image: 'sha256:1', Labels: { 'io.kubernetes.container.logpath': '/l/0.log' } },
      HostConfig: { NetworkMode: 'container:box' },
    },
    { name: 'web:1', ref: 'web@sha256:2' },
  )
  assert.ok(found)
  return found
}

describe('the state of a container of Docker', () => {
  const rows = {
    'made, never started': [{ Status: 'created' }, ['created', 0, '']],
    running: [{ Running: true, StartedAt: STARTED }, ['running', 0, '']],
    'ended well': [{ StartedAt: STARTED, FinishedAt: FINISHED }, ['exited', 0, 'Completed']],
    'ended badly': [{ StartedAt: STARTED, FinishedAt: FINISHED, ExitCode: 7 }, ['exited', 7, 'Error']],
    'out of memory': [
      { StartedAt: STARTED, FinishedAt: FINISHED, ExitCode: 137, OOMKilled: true },
      ['exited', 137, 'OOMKilled'],
    ],
    'could not start': [
      { Status: 'created', ExitCode: 127, Error: 'no such file' },
      ['exited', 127, 'ContainerCannotRun'],
    ],
    'never started, and half removed': [{ Status: 'dead' }, ['created', 0, '']],
    'being removed': [{ Status: 'removing', StartedAt: STARTED, FinishedAt: FINISHED }, ['unknown', 0, '']],
  } as const
  for (const [about, [state, [name, exitCode, reason]]] of Object.entries(rows)) {
    test(about, () => {
      const found = status(state)
      const expected = ContainerState[`CONTAINER_${name.toUpperCase()}` as keyof typeof ContainerState]
      assert.deepEqual([found.state, found.exitCode, found.reason], [expected, exitCode, reason])
    })
  }

  test('has the names and times that it was made with', () => {
    const found = status({ Running: true, StartedAt: STARTED })
    assert.deepEqual([found.metadata?.name, found.metadata?.attempt, found.logPath], ['main', 2, '/l/0.log'])
    assert.deepEqual([found.image?.image, found.imageRef, found.imageId], ['web:1', 'web@sha256:2', 'sha256:1'])
    assert.equal(found.startedAt - found.createdAt, 500_000_001n)
  })

  test('is not shown of containers that are not of pods', () => {
    const listed = { Id: 'a', Names: ['/other'], Image: 'x', ImageID: 'y', Created: 1, State: 'running' }
    assert.equal(toContainer(listed), undefined)
    assert.equal(
      toContainer({ ...listed, Names: ['/k8s_main_web_default_u1_2'], State: 'dead' })?.state,
      ContainerState.CONTAINER_UNKNOWN,
    )
  })
})

test('times of Docker have nanoseconds and may be those of another zone', () => {
  assert.equal(parseDockerTime('1970-01-01T00:00:01.000000002Z'), 1_000_000_002n)
  assert.equal(parseDockerTime('1970-01-01T02:00:00+01:00'), 3_600_000_000_000n)
  assert.deepEqual([parseDockerTime(NEVER), parseDockerTime('')], [0n, 0n])
})
