import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Pod } from '../../model/pod/pod.ts'
import { createVolumePod, createVolumes } from '../../../test/builders/create-volumes.ts'
import { CONFIG_MAP, EMPTY_DIR, FakeVolumeNode } from '../../../test/fakes/fake-volume-node.ts'
import type { Behaviour } from '../../../test/fakes/fake-volume-node.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'

type Step =
  | { readonly kind: 'want' | 'keep' | 'leave'; readonly uid: string }
  | { readonly kind: 'behave'; readonly name: string; readonly behaviour: Behaviour }
  | { readonly kind: 'letGo' | 'change'; readonly name: string }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'crash' }

const UIDS = ['u-1', 'u-2']
const NAMES = ['a', 'b', 'cfg']

const uid = fc.constantFrom(...UIDS)
const name = fc.constantFrom(...NAMES)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('want'), uid }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('keep'), uid }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('leave'), uid }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('behave'),
      name,
      behaviour: fc.constantFrom('good', 'fails', 'uncertain', 'hangs'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('letGo', 'change'), name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(0, 400, 3000, 130_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash') }) },
)

/** A node with agents that come and go, and a worker for each pod which asks for one thing at a time. */
class Scene {
  readonly node = new FakeVolumeNode()
  readonly #wanted = new Set<string>()
  readonly #asking = new Map<string, { readonly controller: AbortController; readonly done: Promise<void> }>()
  /** Mounted by this agent and not unmounted since. */
  readonly #ensured = new Set<string>()
  agent = this.#createAgent()

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'want':
        this.#wanted.add(step.uid)
        return await this.#ask(step.uid)
      case 'keep':
        return await this.#keep(step.uid)
      case 'leave':
        this.#wanted.delete(step.uid)
        return await this.#ask(step.uid)
      case 'behave':
        return void this.node.behaviours.set(step.name, step.behaviour)
      case 'letGo':
        return this.node.letGo(step.name)
      case 'change':
        return UIDS.forEach((one) => this.agent.volumes.contentChanged(one as never))
      case 'wait':
        return await this.agent.clock.advance(step.ms)
      case 'crash':
        return await this.#crash()
    }
  }

  async #crash(): Promise<void> {
    this.agent.shutdown.abort(new Error('crash'))
    for (const one of UIDS) await this.#giveUp(one)
    await this.agent.group.join()
    assert.equal(this.agent.clock.sleeping, 0)
    this.#ensured.clear()
    this.agent = this.#createAgent()
    await this.agent.volumes.adopt()
    for (const one of UIDS) await this.#ask(one)
  }

  /** The worker gives up what it waits for and asks for what is wanted now. */
  async #ask(uid: string): Promise<void> {
    await this.#giveUp(uid)
    const controller = new AbortController()
    const { ensure, release } = this.agent
    const pod = podOf(uid)
    const asked = this.#wanted.has(uid) ? ensure(pod, controller.signal) : release(uid, controller.signal)
    const done = asked.catch((error: unknown) => {
      if (!controller.signal.aborted && !/VolumesError|crash/.test(String(error))) throw error
    })
    this.#asking.set(uid, { controller, done })
    await this.agent.clock.advance(0)
  }

  /** A pass over a pod that waits for nothing. */
  async #keep(uid: string): Promise<void> {
    if (!this.#wanted.has(uid)) return
    await this.#giveUp(uid)
    this.agent.keep(podOf(uid))
    await this.agent.clock.advance(0)
  }

  async #giveUp(uid: string): Promise<void> {
    const asking = this.#asking.get(uid)
    asking?.controller.abort(new Error('given up'))
    await asking?.done
  }

  async end(): Promise<void> {
    for (const one of NAMES) {
      this.node.behaviours.set(one, 'good')
      this.node.letGo(one)
    }
    for (const one of UIDS) await this.take({ kind: 'want', uid: one })
    await this.agent.clock.advance(130_000)
    for (const { done } of this.#asking.values()) await done
    assert.equal(this.node.mounts.size, UIDS.length * NAMES.length, 'what is wanted is there')
    for (const one of UIDS) await this.take({ kind: 'leave', uid: one })
    await this.agent.clock.advance(130_000)
    for (const { done } of this.#asking.values()) await done
    assert.deepEqual([...this.node.mounts], [], 'nothing leaks')
    assert.deepEqual(this.agent.volumes.counts(), [])
    this.agent.assertClean()
  }

  #createAgent() {
    const guard = (plugin: string, refreshed: boolean) => {
      const kind = this.node.kind(plugin, { refreshed })
      return {
        ...kind,
        setUp: async (...[desired, signal]: Parameters<typeof kind.setUp>) => {
          assert.ok(refreshed || !this.#ensured.has(desired.path), `mounted twice: ${desired.path}`)
          const ready = await kind.setUp(desired, signal)
          this.#ensured.add(desired.path)
          return ready
        },
        tearDown: async (...[place, signal]: Parameters<typeof kind.tearDown>) => {
          assert.ok(!this.#wanted.has(place.uid), `taken from a wanted pod: ${place.path}`)
          this.#ensured.delete(place.path)
          await kind.tearDown(place, signal)
        },
      }
    }
    const problems: unknown[] = []
    const log = {
      ...silentLogger,
      warn: (_: string, fields?: { readonly error?: unknown }) => void problems.push(fields?.error),
    }
    const agent = createVolumes({ kinds: [guard(EMPTY_DIR, false), guard(CONFIG_MAP, true)], log }, this.node)
    return { ...agent, problems }
  }
}

function podOf(uid: string): Pod {
  return createVolumePod(NAMES, {
    uid,
    volumes: [
      { name: 'a', emptyDir: {} },
      { name: 'b', emptyDir: {} },
      { name: 'cfg', configMap: { name: 'cfg' } },
    ],
  })
}

test('whatever fails, hangs or crashes: nothing is mounted twice, taken from a wanted pod, or left behind', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const scene = new Scene()
      for (const one of steps) await scene.take(one)
      await scene.end()
      const broken = [...scene.agent.events, ...scene.agent.problems.map(String)].filter((text) =>
        /Two at a time|mounted twice|taken from/.test(text),
      )
      assert.deepEqual(broken, [])
    }),
    { numRuns: 100 },
  )
})
