import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { createCsiAgent } from '../../../../test/builders/create-csi-agent.ts'
import { createVolumePod } from '../../../../test/builders/create-volumes.ts'
import { FakeCsiNode } from '../../../../test/fakes/fake-csi-node.ts'
import type { CallBehaviour, CallName } from '../../../../test/fakes/fake-csi-node.ts'
import type { Pod } from '../../../model/pod/pod.ts'

type Step =
  | { readonly kind: 'want' | 'keep' | 'leave'; readonly uid: string }
  | { readonly kind: 'behave'; readonly call: CallName; readonly behaviour: CallBehaviour }
  | { readonly kind: 'register'; readonly isRegistered: boolean }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'letGo' | 'crash' }

const UIDS = ['u-1', 'u-2', 'u-3']
const CALLS: readonly CallName[] = ['NodeStageVolume', 'NodeUnstageVolume', 'NodePublishVolume', 'NodeUnpublishVolume']

const uid = fc.constantFrom(...UIDS)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('want'), uid }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('keep'), uid }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('leave'), uid }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('behave'),
      call: fc.constantFrom(...CALLS),
      behaviour: fc.constantFrom('good', 'final', 'uncertain', 'lost', 'hangs'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('register'), isRegistered: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(0, 400, 3000, 130_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('letGo', 'crash') }) },
)

/** Two of the pods share a volume, the third has another beside one that is its own; agents come and go. */
function podOf(uid: string): Pod {
  const claim = { name: 'data', persistentVolumeClaim: { claimName: uid === 'u-3' ? 'other' : 'shared' } }
  const own = { name: 'own', csi: { driver: 'disk.example.com' } }
  return createVolumePod(uid === 'u-3' ? ['data', 'own'] : ['data'], { uid, volumes: [claim, own] })
}

class Scene {
  readonly node = new FakeCsiNode()
  readonly #wanted = new Set<string>()
  readonly #asking = new Map<string, { readonly controller: AbortController; readonly done: Promise<void> }>()
  agent: ReturnType<typeof createCsiAgent>

  constructor({ attachRequired, stages }: { readonly attachRequired: boolean; readonly stages: boolean }) {
    this.node.traits = { ...this.node.traits, attachRequired, lifecycleModes: ['Persistent', 'Ephemeral'] }
    this.node.capabilities = new Set(stages ? ['STAGE_UNSTAGE_VOLUME'] : [])
    this.agent = createCsiAgent(this.node)
  }

  async begin(): Promise<void> {
    await this.agent.volumes.adopt()
    this.agent.kind.releaseUnused()
    await this.agent.clock.advance(0)
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'want':
        this.#wanted.add(step.uid)
        return await this.#ask(step.uid)
      case 'keep':
        if (this.#wanted.has(step.uid)) this.agent.keep(podOf(step.uid))
        return await this.agent.clock.advance(0)
      case 'leave':
        this.#wanted.delete(step.uid)
        return await this.#ask(step.uid)
      case 'behave':
        return void this.node.behaviours.set(step.call, step.behaviour)
      case 'register':
        return this.#register(step.isRegistered)
      case 'letGo':
        return this.node.letGo()
      case 'wait':
        return await this.agent.clock.advance(step.ms)
      case 'crash':
        return await this.#crash()
    }
  }

  async end(): Promise<void> {
    for (const call of CALLS) this.node.behaviours.set(call, 'good')
    this.#register(true)
    this.node.letGo()
    await this.#leaveAll()
    for (const one of UIDS) await this.take({ kind: 'want', uid: one })
    await this.#settle()
    assert.equal(this.node.published.size, 4, 'what is wanted is there')
    await this.#leaveAll()
    this.agent.assertClean()
  }

  async #leaveAll(): Promise<void> {
    for (const one of UIDS) await this.take({ kind: 'leave', uid: one })
    await this.#settle()
    assert.deepEqual(this.node.leftovers, [], 'nothing is left')
    assert.deepEqual(this.agent.kind.inUse(), [])
  }

  async #settle(): Promise<void> {
    await this.agent.clock.advance(130_000)
    for (const { done } of this.#asking.values()) await done
  }

  #register(isRegistered: boolean): void {
    this.node.isRegistered = isRegistered
    this.agent.volumes.retry(this.agent.kind.plugin)
    this.agent.kind.retryNow()
  }

  async #crash(): Promise<void> {
    this.agent.shutdown.abort(new Error('crash'))
    for (const one of UIDS) await this.#giveUp(one)
    await this.agent.group.join()
    this.agent = createCsiAgent(this.node)
    await this.begin()
    for (const one of UIDS) await this.#ask(one)
  }

  async #ask(uid: string): Promise<void> {
    await this.#giveUp(uid)
    const controller = new AbortController()
    const { ensure, release } = this.agent
    const asked = this.#wanted.has(uid) ? ensure(podOf(uid), controller.signal) : release(uid, controller.signal)
    const done = asked.catch((error: unknown) => {
      if (!controller.signal.aborted && !/VolumesError|crash/.test(String(error))) throw error
    })
    this.#asking.set(uid, { controller, done })
    await this.agent.clock.advance(0)
  }

  async #giveUp(uid: string): Promise<void> {
    const asking = this.#asking.get(uid)
    asking?.controller.abort(new Error('given up'))
    await asking?.done
  }
}

test('whatever fails, hangs, is lost or crashes: staged before published, unpublished before unstaged, detached last, nothing left', async () => {
  const traits = fc.record({ attachRequired: fc.boolean(), stages: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(traits, fc.array(step, { maxLength: 25 }), async (kind, steps) => {
      const scene = new Scene(kind)
      await scene.begin()
      for (const one of steps) await scene.take(one)
      await scene.end()
      assert.deepEqual(scene.node.broken, [])
    }),
    { numRuns: 100 },
  )
})
