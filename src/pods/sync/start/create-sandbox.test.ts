import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { createPodDeps, failing } from '../../../../test/component/create-pod-deps.ts'
import type { CallErrorCode } from '../../../protocols/grpc/grpc-call-error.ts'
import { createSandbox, describeSandbox, SandboxError } from './create-sandbox.ts'
import type { PodDeps } from '../pod-worker.ts'

const never = new AbortController().signal
const pod = createPod({ spec: { dnsPolicy: 'Default' } })
const REQUEST = { attempt: 0, existing: undefined }

describe('createSandbox()', () => {
  test('makes the directories first and reads the addresses of the pod', async () => {
    const { deps, files, journal } = await createPodDeps()
    const description = await describeSandbox(deps, pod, { ...REQUEST, attempt: 3 })
    assert.equal(description.config.metadata?.attempt, 3)
    const sandbox = await createSandbox(deps, pod, description, never)
    assert.deepEqual(sandbox, { ...description, id: 's-1', ips: ['10.0.0.1', 'fd00::1'] })
    assert.deepEqual([...files.directories], ['/var/lib/kubelet/pods/u-1', '/var/log/pods/shop_web_u-1'])
    assert.deepEqual(journal, ['runPodSandbox', 'podSandboxStatus s-1'])
  })

  test('takes the addresses of the node for a pod in its network', async () => {
    const { deps, journal } = await createPodDeps()
    const host = createPod({ spec: { hostNetwork: true, dnsPolicy: 'Default' } })
    const sandbox = await createSandbox(deps, host, await describeSandbox(deps, host, REQUEST), never)
    assert.deepEqual(sandbox.ips, ['192.0.2.1'])
    assert.deepEqual(journal, ['runPodSandbox'])
  })

  interface Case {
    readonly name: string
    readonly method: keyof PodDeps['calls']
    readonly code: CallErrorCode
    readonly detail: string
    readonly events: readonly string[]
  }

  const cases: readonly Case[] = [
    {
      name: 'the runtime fails',
      method: 'runPodSandbox',
      code: 'Unknown',
      detail: 'no addresses left',
      events: [
        'Warning FailedCreatePodSandBox Failed to create pod sandbox: rpc error: code = Unknown desc = no addresses left',
      ],
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
      events: [
        'Warning FailedPodSandBoxStatus Unable to get pod sandbox status: rpc error: code = DeadlineExceeded desc = late',
      ],
    },
  ]
  for (const { name, method, code, detail, events } of cases) {
    test(`fails with an error that has its cause when ${name}`, async () => {
      const made = await createPodDeps({}, { [method]: failing(code, detail) })
      const config = await describeSandbox(made.deps, pod, REQUEST)
      await assert.rejects(
        createSandbox(made.deps, pod, config, never),
        (error: Error) => error instanceof SandboxError && (error.cause as { detail: string }).detail === detail,
      )
      assert.deepEqual(made.events, events)
    })
  }

  test('has the resolver file of the node as it is now, and fails while it makes no sense', async () => {
    const { deps, files, events } = await createPodDeps()
    const dns = async () => (await describeSandbox(deps, pod, REQUEST)).config.dnsConfig
    files.files.set('/etc/resolv.conf', 'nameserver 192.0.2.1\nsearch lan.test\n')
    assert.deepEqual(await dns(), { servers: ['192.0.2.1'], searches: ['lan.test'], options: [] })
    files.files.set('/etc/resolv.conf', 'nameserver\n')
    await assert.rejects(dns(), SandboxError)
    files.failures.set('readResolvConf', new Error('ENOENT: no such file or directory'))
    await assert.rejects(dns(), SandboxError)
    files.failures.clear()
    files.files.set('/etc/resolv.conf', 'nameserver 198.51.100.1\n')
    assert.deepEqual(await dns(), { servers: ['198.51.100.1'], searches: [], options: [] })
    const failed = 'Warning FailedCreatePodSandBox Failed to create pod sandbox:'
    assert.deepEqual(events, [
      `${failed} Encountered error while parsing resolv conf file. Error: nameserver list is empty in line 1`,
      `${failed} ENOENT: no such file or directory`,
    ])
  })

  test('passes on the reason of its signal', async () => {
    const leave = new Error('the agent leaves')
    const { deps, events } = await createPodDeps({}, { runPodSandbox: () => Promise.reject(leave) })
    await assert.rejects(createSandbox(deps, pod, await describeSandbox(deps, pod, REQUEST), never), leave)
    assert.deepEqual(events, [])
  })

  test('says which directories could not be made', async () => {
    const { deps, files, events, journal } = await createPodDeps()
    files.failures.set('makeDirectories', new Error('ENOSPC'))
    await assert.rejects(createSandbox(deps, pod, await describeSandbox(deps, pod, REQUEST), never), SandboxError)
    assert.deepEqual(events, ['Warning Failed error making pod data directories: ENOSPC'])
    assert.deepEqual(journal, [])
  })
})
