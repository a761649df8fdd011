import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ProcessResult } from '../../../src/system/processes/run-process.ts'
import type { AgentOptions, LabAgent } from '../lab/lab-agent.ts'
import { startLab } from '../lab/start-lab.ts'
import type { Lab } from '../lab/start-lab.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'
import { waitFor } from '../support/wait-for.ts'

const kubelet = fileURLToPath(new URL('../../../bin/kubelet', import.meta.url))

describe('the agent as a process', () => {
  let lab: Lab
  before(async () => void (lab = await startLab()))
  after(() => lab[Symbol.asyncDispose]())

  const run = (...args: string[]): Promise<ProcessResult> => lab.runInside([kubelet, ...args])
  /** Says all that this agent said; the log of a lab is one file for all its agents. */
  const startAgent = async (options: AgentOptions): Promise<LabAgent & { said(): Promise<string> }> => {
    const agent = await lab.startAgent(options)
    const skipped = startedLines
    const said = async () => (await agent.log()).slice(skipped).join('\n')
    return Object.assign(agent, { said })
  }
  let startedLines = 0
  const afterwards = async (agent: LabAgent) => void (startedLines = (await agent.log()).length)

  test('says its version and its flags', async () => {
    const version = await run('--version')
    assert.deepEqual([version.exitCode, version.stdout, version.stderr], [0, 'Kubernetes v1.36.4\n', ''])
    const help = await run('--help')
    assert.equal(help.exitCode, 0)
    for (const flag of ['--config', '--root-dir', '--hostname-override']) assert.ok(help.stdout.includes(flag), flag)
  })

  test('names a flag that it does not know', async () => {
    const { exitCode, stderr, stdout } = await run('--colour=red', '--node-ip=nonsense?')
    assert.deepEqual([exitCode, stdout], [1, ''])
    assert.match(stderr, /--colour/)
  })

  test('names everything that is wrong with its configuration', async () => {
    const file = `${lab.folder}/bad.yaml`
    const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
    await writeFile(file, `${head}maxPods: -3\nhealthzPort: 99999\ncgroupDriver: sysfs\n`)
    const { exitCode, stderr, stdout } = await run(`--config=${file}`)
    assert.deepEqual([exitCode, stdout], [1, ''])
    for (const field of ['maxPods', 'healthzPort', 'cgroupDriver'])
      assert.match(stderr, new RegExp(`^  ${field}: `, 'm'))
  })

  test('does not run on protected kernel settings that are wrong, and changes others', async () => {
    const setting = `${lab.folder}/sysctl-vm.overcommit_memory`
    await writeFile(setting, '0\n')
    const config = { protectKernelDefaults: true, containerRuntimeEndpoint: `unix://${lab.folder}/none.sock` }
    const agent = await startAgent({ config })
    assert.deepEqual(await agent.exited, { exitCode: 1, signal: undefined })
    assert.match(await agent.said(), /protectKernelDefaults\): .*vm\.overcommit_memory is 0, expected 1/)
    await afterwards(agent)
    const other = await startAgent({})
    await other.healthy()
    assert.equal(Number(await readFile(setting, 'utf8')), 1)
    await other.kill()
    await afterwards(other)
  })

  test('names what is wrong with its kubeconfig file, without waiting for the runtime', async () => {
    const file = `${lab.folder}/bad.kubeconfig`
    const cluster = '{ server: "https://127.0.0.1:6443", certificate-authority: nowhere.crt }'
    await writeFile(
      file,
      `clusters: [{ name: c, cluster: ${cluster} }]\ncontexts: [{ name: x, context: { cluster: c } }]\ncurrent-context: x\n`,
    )
    const config = { containerRuntimeEndpoint: `unix://${lab.folder}/none.sock` }
    const agent = await startAgent({ config, flags: [`--kubeconfig=${file}`] })
    assert.deepEqual(await agent.exited, { exitCode: 1, signal: undefined })
    const problem = `cannot read "${lab.folder}/nowhere.crt": there is no such file (line 1)`
    const line = `Cannot use kubeconfig "${file}": clusters[0].cluster.certificate-authority: ${problem}`
    assert.equal((await agent.said()).trim().split('\n').at(-1), line)
    await afterwards(agent)
  })

  test('waits for the runtime, and leaves when it does not come', async () => {
    const containerRuntimeEndpoint = `unix://${lab.folder}/none.sock`
    const agent = await startAgent({ config: { containerRuntimeEndpoint, runtimeRequestTimeout: '2s' } })
    assert.deepEqual(await agent.exited, { exitCode: 1, signal: undefined })
    const said = await agent.said()
    assert.match(said, /runtime does not answer yet, waiting/)
    assert.ok(said.includes(`Cannot use the container runtime at \\"${containerRuntimeEndpoint}\\"`), said)
    await afterwards(agent)
  })

  test('serves healthz, and nothing on the read-only port by default', async () => {
    const closed = await startAgent({ config: { readOnlyPort: undefined } })
    await closed.healthy()
    assert.deepEqual(await lab.network.get('http://127.0.0.1:10248/healthz'), { status: 200, body: 'ok' })
    await assert.rejects(lab.network.get('http://127.0.0.1:10255/pods'))
    await closed.kill()

    const open = await startAgent({})
    await open.healthy()
    assert.deepEqual(await lab.network.get('http://127.0.0.1:10255/healthz'), { status: 200, body: 'ok' })
    assert.deepEqual(await open.pods(), [])
    const metrics = await lab.network.get('http://127.0.0.1:10255/metrics')
    assert.equal(metrics.status, 200)
    assert.match(metrics.body, /^kubelet_runtime_operations_total\{operation_type="list_containers"\} \d+$/m)
    await open.kill()
    await afterwards(open)
  })

  test('leaves when another agent takes its lock', async () => {
    const lock = `--lock-file=${lab.folder}/lock`
    const first = await startAgent({ flags: [lock, '--exit-on-lock-contention'] })
    await first.healthy()
    const second = await startAgent({ flags: [lock] })
    assert.deepEqual(await first.exited, { exitCode: 0, signal: undefined })
    await second.healthy()
    assert.match(await first.said(), /another process wants the lock, leaving/)
    assert.equal((await second.said()).match(/"waiting for the lock"/g)?.length, 2)

    const third = await startAgent({ flags: [lock, '--exit-on-lock-contention'] })
    await waitFor('the third to wait', async () => (await third.said()).match(/"waiting for the lock"/g)?.length === 3)
    await second.kill('SIGKILL')
    await third.healthy()
    // As the node e2e suite does it: another program that opens the file and waits for its lock.
    const other = await lab.runInside(['flock', '--exclusive', `${lab.folder}/lock`, 'true'])
    assert.equal(other.exitCode, 0)
    assert.deepEqual(await third.exited, { exitCode: 0, signal: undefined })
    await afterwards(third)
  })

  test('runs once and says how it went', async () => {
    const { manifests } = lab
    const files = [`--config=${lab.folder}/kubelet.yaml`, `--root-dir=${lab.folder}/kubelet`]
    const once = (...flags: string[]) => run('--runonce', '--hostname-override=lab', ...files, ...flags)
    const job = { restartPolicy: 'Never', containers: [testContainer('main', scripts.exits(0))] }
    await manifests.write('server', testPod('server'))
    await manifests.write('job', testPod('job', job))
    const good = await once()
    assert.equal(good.exitCode, 0, good.stderr)
    assert.match(good.stdout, /^default\/job-lab: (Running|Succeeded)$/m)
    assert.match(good.stdout, /^default\/server-lab: Running$/m)
    assert.match(good.stdout, /^2 pods, 2 run or succeeded, 0 did not$/m)
    const image = 'deckhand.local/nowhere:1'
    const broken = { containers: [testContainer('main', scripts.obedient, { image })] }
    await manifests.write('broken', testPod('broken', broken))
    const bad = await once('--runtime-request-timeout=3s')
    assert.equal(bad.exitCode, 1, bad.stderr)
    assert.match(bad.stdout, /^default\/broken-lab: Pending: main: ErrImageNeverPull /m)
    assert.match(bad.stdout, /^3 pods, 2 run or succeeded, 1 did not$/m)
    for (const name of ['server', 'job', 'broken']) await manifests.remove(name)
  })
})

test('an agent that gets SIGTERM or SIGINT ends at once, and the pods stay', async () => {
  await using node = await TestNode.start()
  await node.lab.manifests.write('app', testPod('app'))
  const app = await node.ready('app')
  const processes = await node.processes()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const askedAt = performance.now()
    assert.deepEqual(await node.agent.kill(signal), { exitCode: 0, signal: undefined })
    const took = performance.now() - askedAt
    assert.ok(took < 2000, `${took} ms`)
    assert.deepEqual(await node.processes(), processes)
    await node.startAgent()
    await node.ready('app')
  }
  assert.deepEqual(
    (await node.logLines(app)).map(({ text }) => text.split(' ')[0]),
    ['started'],
  )
})
