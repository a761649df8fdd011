import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { PodSandboxState } from '../../../src/protocols/cri/generated/runtime-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { NODE_NAME } from '../lab/lab-agent.ts'
import { labRuntimeKind } from '../lab/lab-runtime.ts'
import type { KillMoment } from '../support/kill-plan.ts'
import { MortalNode } from '../support/mortal-node.ts'
import { podLives } from '../support/pod-lives.ts'
import type { FoundContainer, FoundPod, PodLife } from '../support/pod-lives.ts'
import { waitFor } from '../support/wait-for.ts'

const MOMENTS: readonly KillMoment[] = ['unanswered', 'answered']
// A pod is not killed at all its steps but at each fourth: another has the next ones.
const STRIDE = 2
// A life that goes on and on would give steps without end.
const MOST_OF_A_KIND = 2
const PATIENCE_MS = 200_000
const never = new AbortController().signal

/** What is found of one container: by the runtime, by its own words and by what the agents asked for. */
async function findContainer(mortal: MortalNode, pod: Pod, manifest: string, name: string): Promise<FoundContainer> {
  const { namespace, name: podName, uid } = pod.metadata
  const folder = `${mortal.node.podLogs}/${namespace}_${podName}_${uid}/${name}`
  const files = (await readdir(folder).catch(() => [])).toSorted((a, b) => parseInt(a) - parseInt(b))
  // A log may be removed between both readings: a container that fails again and again has its last ones only.
  const lines = await Promise.all(files.map((file) => mortal.node.logLines(pod, name, parseInt(file)).catch(() => [])))
  const starts = (await mortal.calls(`${manifest}-${NODE_NAME}`)).filter(({ step }) =>
    step.startsWith(`StartContainer ${name}#`),
  )
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
  return {
    status: [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name),
    lines: lines.flat(),
    doubts:
      starts.filter(({ event }) => event === 'sent').length - starts.filter(({ event }) => event === 'answered').length,
    attempts: starts.filter(({ event }) => event === 'sent').map(({ attempt }) => attempt),
  }
}

async function findContainers(mortal: MortalNode, pod: Pod, manifest: string): Promise<FoundPod['container']> {
  const { containers, initContainers = [] } = pod.spec
  const found = new Map<string, FoundContainer>()
  for (const { name } of [...initContainers, ...containers]) {
    found.set(name, await findContainer(mortal, pod, manifest, name))
  }
  return (wanted) => found.get(wanted) ?? assert.fail(`no container "${wanted}"`)
}

/** No container runs twice, and a pod has one sandbox while anything of it runs, else none. */
async function checkNothingTwice({ node }: MortalNode, name: string): Promise<void> {
  const running = (await node.running(name)).map(({ metadata }) => metadata?.name ?? '')
  assert.deepEqual(running, [...new Set(running)])
  const labelSelector = { 'io.kubernetes.pod.name': `${name}-${NODE_NAME}` }
  const { items } = await node.runtime.listPodSandbox({ filter: { labelSelector } }, never)
  const ready = items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY)
  assert.ok(ready.length === 1 || (ready.length === 0 && running.length === 0), `${ready.length} sandboxes are ready`)
}

async function checkNothingLeft({ node }: MortalNode, pod: Pod, name: string): Promise<void> {
  const { namespace, name: podName, uid } = pod.metadata
  const labelSelector = { 'io.kubernetes.pod.name': podName }
  const folders = [`${node.podLogs}/${namespace}_${podName}_${uid}`, `${node.agent.rootDir}/pods/${uid}`]
  const leftFolders = () => folders.filter((folder) => existsSync(folder))
  const leftInRuntime = async () => [
    ...(await node.containers(name)).map(({ id }) => id),
    ...(await node.runtime.listPodSandbox({ filter: { labelSelector } }, never)).items.map(({ id }) => id),
  ]
  await waitFor(
    `nothing of "${name}" to be left`,
    // Many wait at once: while there are folders, the runtime need not be asked.
    async () => leftFolders().length === 0 && (await leftInRuntime()).length === 0,
    { ms: PATIENCE_MS, context: async () => JSON.stringify([...leftFolders(), ...(await leftInRuntime())]) },
  )
}

/** Takes a pod from its manifest to the point where nothing of it is left, and checks it on the way. */
async function live(mortal: MortalNode, life: PodLife, name: string): Promise<void> {
  const { manifests } = mortal.node.lab
  await manifests.write(name, life.manifest(name))
  const pod = await mortal.podIs(name, 'lived', life.isLived)
  // What containers said last comes into their logs a moment after they ran or ended.
  await waitFor(`"${name}" to have come to what it should`, async () => {
    life.check({ pod, container: await findContainers(mortal, pod, name) })
    return true
  })
  await checkNothingTwice(mortal, name)
  await manifests.remove(name)
  await checkNothingLeft(mortal, pod, name)
}

test(
  'the agent may be killed at every call of a pod’s life, and each pod gets what it should',
  { timeout: 280_000 },
  async (t) => {
    const killSwitch = labRuntimeKind() === 'docker' ? 'docker-kill-switch' : 'kill-switch'
    await using mortal = await MortalNode.start(killSwitch, {
      config: { crashLoopBackOff: { maxContainerRestartPeriod: '1s' } },
      // So that each kill hits many: starting an agent again is what takes long.
      environment: { KILL_QUIET_MS: '600' },
    })
    const steps = new Map<PodLife, readonly string[]>()
    await t.test('lives without a kill show the steps', async () => {
      await Promise.all(
        podLives.map(async (life) => {
          await live(mortal, life, life.name)
          const all = (await mortal.calls(`${life.name}-${NODE_NAME}`)).flatMap(({ event, step }) =>
            event === 'sent' ? [step] : [],
          )
          steps.set(
            life,
            all.filter((step) => Number(step.split('#')[1]) <= MOST_OF_A_KIND),
          )
        }),
      )
      assert.equal(mortal.starts, 1)
    })
    const lives = [...steps].flatMap(([life, all]) =>
      MOMENTS.flatMap((when) =>
        Array.from({ length: STRIDE }, (_, first) => ({
          life,
          when,
          name: `${life.name}-${when}-${first}`,
          steps: all.filter((_step, index) => index % STRIDE === first),
        })),
      ),
    )
    await mortal.plan(
      Object.fromEntries(lives.map(({ name, steps: cut, when }) => [`${name}-${NODE_NAME}`, { steps: cut, when }])),
    )
    const missedSteps: string[] = []
    await t.test('killed', { concurrency: true }, async (killed) => {
      await Promise.all(
        lives.map(({ life, steps: cut, when, name }) =>
          killed.test(`${life.name}, ${when} at ${cut.join(', ')}`, async () => {
            await live(mortal, life, name)
            const calls = await mortal.calls(`${name}-${NODE_NAME}`)
            const struck = new Set(calls.flatMap(({ step, event }) => (event === 'killed' ? [step] : [])))
            const missed = cut.filter((step) => !struck.has(step))
            missedSteps.push(...missed.map((step) => `${name}: ${step}`))
            assert.deepEqual(
              missed.filter((step) => !life.mayMiss.some((call) => step.startsWith(call))),
              [],
            )
          }),
        ),
      )
    })
    assert.deepEqual(mortal.crashes, [])
    const planned = lives.reduce((sum, { steps: cut }) => sum + cut.length, 0)
    t.diagnostic(
      `${mortal.starts - 2} kills, ${planned} steps of ${lives.length} pods; missed: ${missedSteps.join(', ')}`,
    )
    assert.ok(missedSteps.length <= planned / 10, missedSteps.join(', '))
  },
)
