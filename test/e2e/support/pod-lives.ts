import assert from 'node:assert/strict'
import type { ContainerStatus } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { scripts, testContainer, testPod } from './test-pod.ts'
import { isReady } from './test-node.ts'
import type { LogLine } from './test-node.ts'

/** What was found of one container of a pod. */
export interface FoundContainer {
  readonly status: ContainerStatus | undefined
  /** What all its instances wrote, as far as their logs are kept. */
  readonly lines: readonly LogLine[]
  /** Starts that the runtime was asked for by an agent which died before the answer: each may have come to something or not. */
  readonly doubts: number
  /** The numbers of the instances whose start the runtime was asked for, in this order. */
  readonly attempts: readonly number[]
}

/** What was found of a pod at the height of its life. */
export interface FoundPod {
  readonly pod: Pod
  readonly container: (name: string) => FoundContainer
}

/** A pod, and what must have come of it, whatever happens to the agents meanwhile. */
export interface PodLife {
  readonly name: string
  readonly manifest: (name: string) => object
  /** The pod has got where it should; from here on it only has to be removed. */
  readonly isLived: (pod: Pod) => boolean
  readonly check: (found: FoundPod) => void
  /** Calls that a life may do without when the agent dies at others before. */
  readonly mayMiss: readonly string[]
}

const RESTARTS = 4

const say = (words: string, then = 'true') => ({
  exec: { command: ['sh', '-c', `echo ${words} $EPOCHREALTIME > /proc/1/fd/1; ${then}`] },
})

function statusOf(pod: Pod, name: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
  return [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name)
}

function timesOf({ lines }: FoundContainer, word: string): readonly number[] {
  return lines.flatMap(({ at, text }) => (text.startsWith(word) ? [at] : []))
}

/** It ran once; only a start whose answer was lost may have been followed by another. */
function checkRanOnce(name: string, found: FoundContainer): void {
  const starts = timesOf(found, 'started').length
  assert.ok(
    starts >= (found.doubts === 0 ? 1 : 0) && starts <= 1 + found.doubts,
    `${name} started ${starts} times, ${found.doubts} in doubt`,
  )
  const restarts = found.status?.restartCount ?? Number.NaN
  assert.ok(restarts <= found.doubts, `${name} has restart count ${restarts}, ${found.doubts} in doubt`)
}

/** Each has begun only when the one before it had said the word; whether it had to begin is checked elsewhere. */
function checkOrder(before: FoundContainer, word: string, after: FoundContainer): void {
  const [earliest = Infinity] = timesOf(after, 'started')
  const [said = Infinity] = timesOf(before, word)
  assert.ok(said <= earliest, `started at ${earliest}, before "${word}" was said at ${said}`)
}

const sidecar: PodLife = {
  name: 'sidecar',
  mayMiss: [],
  manifest: (name) => {
    const startupProbe = { exec: { command: ['test', '-e', '/up'] }, periodSeconds: 1, failureThreshold: 60 }
    const script = scripts.obedient.replace('echo started', 'echo up > /up; echo up $EPOCHREALTIME; echo started')
    return testPod(name, {
      restartPolicy: 'Never',
      initContainers: [testContainer('proxy', script, { restartPolicy: 'Always', startupProbe })],
      containers: [testContainer('main', scripts.exits(7, 0.2).replace('exit 7', 'echo done $EPOCHREALTIME; exit 7'))],
    })
  },
  isLived: (pod) => pod.status?.phase === 'Failed' && statusOf(pod, 'proxy')?.state?.terminated !== undefined,
  check: ({ container }) => {
    const [proxy, main] = [container('proxy'), container('main')]
    checkRanOnce('proxy', proxy)
    checkRanOnce('main', main)
    checkOrder(proxy, 'up', main)
    const { exitCode } = main.status?.state?.terminated ?? {}
    assert.ok(exitCode === 7 || (main.doubts > 0 && exitCode === 128), `exit code of main is ${exitCode}`)
    if (main.doubts === 0) {
      assert.ok((timesOf(proxy, 'term').at(-1) ?? 0) >= (timesOf(main, 'done')[0] ?? Infinity), 'the proxy left early')
    }
  },
}

const initChain: PodLife = {
  name: 'init-chain',
  mayMiss: [],
  manifest: (name) => {
    const script = scripts.exits(0, 0.1).replace('exit 0', 'echo done $EPOCHREALTIME; exit 0')
    return testPod(name, { initContainers: ['one', 'two'].map((init) => testContainer(init, script)) })
  },
  isLived: isReady,
  check: ({ pod, container }) => {
    const [one, two, main] = [container('one'), container('two'), container('main')]
    for (const [name, found] of Object.entries({ one, two, main })) checkRanOnce(name, found)
    checkOrder(one, 'done', two)
    checkOrder(two, 'done', main)
    const codes = pod.status?.initContainerStatuses?.map(({ state }) => state?.terminated?.exitCode)
    assert.deepEqual(codes, [0, 0])
  },
}

const crashLoop: PodLife = {
  name: 'crash-loop',
  // Most of the time nothing runs.
  mayMiss: ['StopContainer main'],
  manifest: (name) => testPod(name, { containers: [testContainer('main', scripts.exits(3, 0.05))] }),
  isLived: (pod) => (statusOf(pod, 'main')?.restartCount ?? 0) >= RESTARTS && pod.status?.phase === 'Running',
  check: ({ container }) => {
    const { status, doubts, attempts } = container('main')
    const ended = status?.lastState?.terminated?.exitCode ?? status?.state?.terminated?.exitCode
    assert.ok(ended === 3 || (doubts > 0 && ended === 128), `exit code is ${ended}`)
    // Counted without a gap, and each number was started: asked for again only where the first answer was lost.
    const numbers = new Set(attempts)
    assert.deepEqual(
      [...numbers],
      Array.from({ length: numbers.size }, (_, number) => number),
    )
    assert.ok(attempts.length <= numbers.size + doubts, `starts: ${attempts.join(' ')}, ${doubts} in doubt`)
    // One that is made and not started yet counts too.
    const made = Math.max(...attempts) + (status?.state?.waiting === undefined ? 0 : 1)
    assert.ok((status?.restartCount ?? 0) <= made, `restart count ${status?.restartCount}, ${made} made`)
  },
}

const slowToStop: PodLife = {
  name: 'slow-to-stop',
  // A start whose answer was lost is not followed by a hook; one that the runtime gave up leaves nothing to stop.
  mayMiss: ['ExecSync main hello', 'ExecSync main bye', 'StopContainer main'],
  manifest: (name) => {
    // Long enough for a kill in the middle of them.
    const lifecycle = { postStart: say('hello', 'sleep 1'), preStop: say('bye', 'sleep 1') }
    return testPod(name, {
      // Longer than a start takes through two kills on a busy machine.
      activeDeadlineSeconds: 12,
      terminationGracePeriodSeconds: 2,
      containers: [testContainer('main', scripts.stubborn, { lifecycle })],
    })
  },
  isLived: (pod) => pod.status?.phase === 'Failed' && statusOf(pod, 'main')?.state?.terminated !== undefined,
  check: ({ pod, container }) => {
    const main = container('main')
    assert.equal(pod.status?.reason, 'DeadlineExceeded')
    assert.equal(main.status?.state?.terminated?.exitCode, 137)
    checkRanOnce('main', main)
    const [started = Infinity] = timesOf(main, 'started')
    const [bye = Infinity] = timesOf(main, 'bye')
    const [term = Infinity] = timesOf(main, 'term')
    assert.ok(started === Infinity || (started <= bye && bye <= term), `started ${started}, bye ${bye}, term ${term}`)
    if (main.doubts === 0) assert.ok(started < Infinity && term < Infinity, 'it was not stopped properly')
  },
}

/** A sidecar that gates and outlives a job, init containers in a row, a container that always fails, one that does not want to stop. */
export const podLives: readonly PodLife[] = [sidecar, initChain, crashLoop, slowToStop]
