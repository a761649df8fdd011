import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContainerState, ContainerStatus } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { testContainer, testPod } from './test-pod.ts'
import type { TestNode } from './test-node.ts'

export interface RaceOutcome {
  /** Containers that ran, each with the path as a mount. */
  readonly starts: number
  /** Containers that did not run, because the path was a link just then or nothing at all. */
  readonly refused: number
  /** How often directory and link changed places. */
  readonly swaps: number
  /** What containers or the node saw that was not inside the volume. */
  readonly outside: readonly string[]
}

const PER_POD = 10

// Every step is a rename, so that the path is a directory, nothing or a link, and never anything in between. What the agent creates
// where just then nothing is goes out of the way, too; removed it could not be mounted by the runtime.
const SWAP = `
cd /v && mkdir -p real/tmp old && ln -s / link && n=0
while :; do
  mv -T p old/$n
  mv -T real p; mv -T p real; mv -T link p; mv -T p link
  n=$((n + 1)); echo $n > swaps
done 2> /dev/null`

// Inside there is nothing but "tmp"; a root or a /tmp of a node has entries, and another place in its file system.
const SHOW_MOUNT = `echo "saw=$(awk '$5 == "/seen" { print $4 }' /proc/self/mountinfo) $(ls -A /seen | grep -vcx tmp)"`

/**
 * A container exchanges a directory with a link to the root of the node as fast as it can, while others are started that mount this path or
 * one below it. Ends when so many have run, or the time is up.
 */
export async function raceSubPaths(
  node: TestNode,
  { starts: wanted, ms }: { readonly starts: number; readonly ms: number },
): Promise<RaceOutcome> {
  const folder = join(node.lab.folder, 'raced')
  await mkdir(folder)
  const volumes = [{ name: 'v', hostPath: { path: folder, type: 'Directory' } }]
  const swapper = testContainer('main', SWAP, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })
  await node.lab.manifests.write('swapper', testPod('swapper', { volumes, containers: [swapper] }))
  const swaps = () =>
    // Empty for a moment at each.
    node.waitFor('swaps', async () => Number(await readFile(join(folder, 'swaps'), 'utf8')) || undefined)
  await swaps()
  const end = performance.now() + ms
  let [starts, refused] = [0, 0]
  const outside: string[] = []
  // Until both have happened, however slow the machine is.
  const isTimeUp = () => performance.now() >= end && starts > 0 && refused > 0
  for (let number = 0; starts < wanted && !isTimeUp(); number += 1) {
    const name = `racer-${number}`
    const containers = Array.from({ length: PER_POD }, (_, index) =>
      testContainer(`c${index}`, SHOW_MOUNT, {
        volumeMounts: [{ name: 'v', mountPath: '/seen', subPath: index % 2 === 0 ? 'p' : 'p/tmp' }],
      }),
    )
    await node.lab.manifests.write(name, testPod(name, { volumes, containers, restartPolicy: 'Never' }))
    const round = await node.waitFor(`the containers of ${name}`, () => findResults(node, name))
    starts += round.saw.length
    refused += round.refused
    const inside = (root: string) => root.includes('/raced/')
    outside.push(...round.saw.filter((line) => !inside(line) || !line.endsWith(' 0')))
    const parts = (await node.mountsOf(round.pod)).filter(({ point }) => point.startsWith('volume-subpaths/'))
    outside.push(...parts.map(({ root }) => root).filter((root) => !inside(root)))
    await node.lab.manifests.remove(name)
  }
  const outcome = { starts, refused, swaps: await swaps(), outside }
  await node.lab.manifests.remove('swapper')
  return outcome
}

// Of containerd and of Docker.
const START_FAILED = new Set(['StartError', 'ContainerCannotRun'])

/** Undefined until every container has run or was refused. */
async function findResults(node: TestNode, name: string) {
  const pod = await node.agent.pod(name)
  const statuses = pod?.status?.containerStatuses ?? []
  const isRefused = ({ waiting, terminated }: ContainerState) =>
    (waiting !== undefined && waiting.reason !== 'ContainerCreating') || START_FAILED.has(terminated?.reason ?? '')
  const refused = statuses.filter(({ state = {} }) => isRefused(state)).length
  const ran = statuses.filter(({ state = {} }) => state.terminated !== undefined && !isRefused(state))
  if (pod === undefined || ran.length + refused < PER_POD) return undefined
  const saw = await Promise.all(ran.map((status) => findWord(node, pod, status)))
  return { pod, saw, refused }
}

/** From the log of the instance that the status is about: one that was refused before may have left an empty log. */
async function findWord(node: TestNode, pod: Pod, status: ContainerStatus): Promise<string> {
  const lines = await node.logLines(pod, status.name, status.restartCount)
  const line = lines.find(({ text }) => text.startsWith('saw='))
  if (line === undefined) throw new Error(`No word in the log of a container that ran: ${JSON.stringify(status)}`)
  return line.text.slice('saw='.length).trim()
}
