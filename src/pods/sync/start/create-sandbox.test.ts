import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { createPodRuntime, failing } from '../../../../test/component/create-pod-runtime.ts'
import type { CallErrorCode } from '../../../protocols/grpc/grpc-call-error.ts'
import { createSandbox, describeSandbox, SandboxError } from './create-sandbox.ts'
import type { PodRuntime } from '../pod-runtime.ts'

const never = new AbortController().signal
const pod = createPod({ spec: { dnsPolicy: 'Default' } })
const REQUEST = { attempt: 0, reported: new Set<string>(), existing: undefined }

describe('createSandbox()', () => {
  test('makes the directories first and reads the addresses of the pod', async () => {
    const { runtime, files, journal } = await createPodRuntime()
    const description = await describeSandbox(runtime, pod, { ...REQUEST, attempt: 3 })
    assert.equal(description.config.metadata?.attempt, 3)
    const sandbox = await createSandbox(runtime, pod, description, never)
    assert.deepEqual(sandbox, { ...description, id: 's-1', ips: ['10.0.0.1', 'fd00::1'] })
    assert.deepEqual([...files.directories], ['/var/lib/kubelet/pods/u-1', '/var/log/pods/shop_web_u-1'])
    assert.deepEqual(journal, ['runPodSandbox', 'podSandboxStatus s-1'])
  })

  test('takes the addresses of the node for a pod in its network', async () => {
    const { runtime, journal } = await createPodRuntime()
    const host = createPod({ spec: { hostNetwork: true, dnsPolicy: 'Default' } })
    const sandbox = await createSandbox(runtime, host, await describeSandbox(runtime, host, REQUEST), never)
    assert.deepEqual(sandbox.ips, ['192.0.2.1'])
    assert.deepEqual(journal, ['runPodSandbox'])
  })

  interface Case {
    readonly name: string
    readonly method: keyof PodRuntime['calls']
    readonly code: CallErrorCode
    readonly detail: string
    readonly events: readonly string[]
  }

  const cases: readonly Case[] = [
    {
      name: 'the runtime refuses',
      method: 'runPodSandbox',
      code: 'Unknown',
      detail: 'no addresses left',
      events: ['Warning FailedCreatePodSandBox Failed to create pod sandbox: no addresses left'],
    },
    {
      name: 'an earlier try is still under way',
      method: 'runPodSandbox',
      code: 'Unknown',
      detail: 'name "web" is reserved for "s-0"',
      events: [],
    },
    {
      name: 'its status cannot be read',
      method: 'podSandboxStatus',
      code: 'DeadlineExceeded',
      detail: 'late',
      events: ['Warning FailedPodSandBoxStatus Unable to get pod sandbox status: late'],
    },
  ]
  for (const { name, method, code, detail, events } of cases) {
    test(`fails with an error that has its cause when ${name}`, async () => {
      const made = await createPodRuntime({}, { [method]: failing(code, detail) })
      const config = await describeSandbox(made.runtime, pod, REQUEST)
      await assert.rejects(
        createSandbox(made.runtime, pod, config, never),
        (error: Error) => error instanceof SandboxError && (error.cause as { detail: string }).detail === detail,
      )
      assert.deepEqual(made.events, events)
    })
  }

  test('passes on the reason of its signal', async () => {
    const leave = new Error('the agent leaves')
    const { runtime, events } = await createPodRuntime({}, { runPodSandbox: () => Promise.reject(leave) })
    await assert.rejects(createSandbox(runtime, pod, await describeSandbox(runtime, pod, REQUEST), never), leave)
    assert.deepEqual(events, [])
  })

  test('says which directories could not be made', async () => {
    const { runtime, files, events, journal } = await createPodRuntime()
    files.failures.set('makeDirectories', new Error('ENOSPC'))
    await assert.rejects(createSandbox(runtime, pod, await describeSandbox(runtime, pod, REQUEST), never), SandboxError)
    assert.deepEqual(events, ['Warning Failed error making pod data directories: ENOSPC'])
    assert.deepEqual(journal, [])
  })
})
