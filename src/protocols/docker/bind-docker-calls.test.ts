import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { bindDockerCalls } from './bind-docker-calls.ts'

describe('bindDockerCalls()', () => {
  test('says what Docker cannot do where a user asks for it', async () => {
    const calls = bindDockerCalls({}, { requestTimeoutMs: 1000, clock: new FakeClock() })
    const asked = calls.checkpointContainer({ containerId: 'c', location: '/c.tar' }, new AbortController().signal)
    await assert.rejects(asked, {
      code: 'Unimplemented',
      detail: /^Docker cannot write a running container to an archive: run the pod on containerd 2 or CRI-O for that$/,
    })
  })
})
