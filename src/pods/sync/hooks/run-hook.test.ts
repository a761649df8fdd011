import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { createPodDeps, failing } from '../../../../test/component/create-pod-deps.ts'
import { PlainHttpError } from '../../../protocols/http/http-get.ts'
import type { HttpGetRequest } from '../../../protocols/http/http-get.ts'
import type { LifecycleHandler } from '../../../model/generated/core-v1.ts'
import type { PodDeps } from '../pod-worker.ts'
import { HookError } from './hook-error.ts'
import { runHook } from './run-hook.ts'

const container = createContainer({ ports: [{ name: 'admin', containerPort: 9000 }] })
const pod = createPod({ spec: { containers: [container] } })
const requestWith = (handler: LifecycleHandler) => ({
  pod,
  container,
  containerId: 'c-1',
  podIp: '10.0.0.1',
  name: 'preStop' as const,
  handler,
})
const never = new AbortController().signal

describe('runHook()', () => {
  test('runs a command as it is, without a limit of time', async () => {
    let request: object | undefined
    const execSync = async (given: object) => ((request = given), { exitCode: 0 } as never)
    const { deps } = await createPodDeps({}, { execSync })
    await runHook(deps, requestWith({ exec: { command: ['say', '$(HOME)'] } }), never)
    assert.deepEqual(request, { containerId: 'c-1', cmd: ['say', '$(HOME)'], timeout: 0n })
  })

  for (const [name, execSync, message] of [
    [
      'ends badly',
      async () => ({ exitCode: 7, stdout: Buffer.from('secret') }) as never,
      'Command failed: exit code 7',
    ],
    ['cannot be run', failing('Unknown', 'secret'), 'Cannot run the command: Unknown'],
  ] as const) {
    test(`fails when the command ${name}, without its words`, async () => {
      const { deps } = await createPodDeps({}, { execSync })
      const hook = runHook(deps, requestWith({ exec: { command: ['x'] } }), never)
      await assert.rejects(hook, { name: 'HookError', message })
    })
  }

  test('sleeps', async () => {
    const { deps, clock } = await createPodDeps()
    let ended = false
    const hook = runHook(deps, requestWith({ sleep: { seconds: 5 } }), never).then(() => (ended = true))
    await clock.advance(4999)
    assert.equal(ended, false)
    await clock.advance(1)
    await hook
  })

  test('fails for what is no hook', async () => {
    const { deps } = await createPodDeps()
    const hook = runHook(deps, requestWith({ tcpSocket: { port: 80 } }), never)
    await assert.rejects(hook, { name: 'HookError', message: 'Cannot run the hook: expected exec, httpGet or sleep' })
  })

  test('is given up with its signal, which is no failure', async () => {
    const reason = new Error('leave')
    const gone = AbortSignal.abort(reason)
    const httpGet: PodDeps['httpGet'] = async (_, signal) => {
      signal.throwIfAborted()
      throw new Error('unreachable')
    }
    const { deps } = await createPodDeps({ httpGet })
    for (const handler of [{ sleep: { seconds: 5 } }, { httpGet: { port: 1 } }]) {
      await assert.rejects(runHook(deps, requestWith(handler), gone), (error) => error === reason)
    }
  })
})

describe('an HTTP hook', () => {
  const run = async (httpGet: PodDeps['httpGet'], handler: LifecycleHandler['httpGet'] = { port: 'admin' }) => {
    const { deps, events } = await createPodDeps({ httpGet })
    await runHook(deps, requestWith({ httpGet: handler }), never)
    return events
  }

  test('asks the pod; any answer will do', async () => {
    const asked: HttpGetRequest[] = []
    const events = await run(async (request) => (asked.push(request), { status: 500, body: '' }))
    assert.deepEqual(
      asked.map(({ scheme, host, port, path }) => [scheme, host, port, path]),
      [['http', '10.0.0.1', 9000, '/']],
    )
    assert.equal(asked[0]?.headers[0]?.value, 'kube-lifecycle/1.36')
    assert.deepEqual(events, [])
  })

  test('asks again in HTTP when HTTPS is answered so, without the password', async () => {
    const asked: HttpGetRequest[] = []
    const httpHeaders = [
      { name: 'authorization', value: 'secret' },
      { name: 'X-A', value: '1' },
    ]
    const events = await run(
      async (request) => {
        asked.push(request)
        if (request.scheme === 'https') throw new PlainHttpError('plain')
        return { status: 200, body: '' }
      },
      { port: 1, scheme: 'HTTPS', httpHeaders },
    )
    assert.deepEqual(
      asked.map(({ scheme, headers }) => [scheme, headers.length]),
      [
        ['https', 4],
        ['http', 3],
      ],
    )
    assert.match(
      events.join(),
      /^Warning LifecycleHTTPFallback request to HTTPS lifecycle hook 10\.0\.0\.1:1 got HTTP response, retry with HTTP succeeded/,
    )
  })

  test('fails when there is no answer', async () => {
    const events = run(async () => {
      throw new Error('connect ECONNREFUSED')
    })
    await assert.rejects(events, new HookError('Cannot ask the container: connect ECONNREFUSED'))
  })

  test('fails when the port is none', async () => {
    await assert.rejects(
      run(async () => ({ status: 200, body: '' }), { port: 'other' }),
      HookError,
    )
  })
})
