import { test } from 'node:test'
import { cycleVolumePods } from '../support/cycle-volume-pods.ts'
import { TestNode } from '../support/test-node.ts'
import { VolumePods } from '../support/volume-pods.ts'

// Five hundred are a part of the benchmark: they take their time.
const PODS_AT_ONCE = 12
const ROUNDS = 2

test(
  `${PODS_AT_ONCE * ROUNDS} pods with volumes of every kind leave no mount, directory, process or descriptor behind`,
  { timeout: 180_000 },
  async () => {
    await using pods = await VolumePods.create()
    await using node = await TestNode.start(pods.objects.agent)
    const { agent, lab } = node
    await cycleVolumePods({ agent, manifests: lab.manifests, pods, podsAtOnce: PODS_AT_ONCE, rounds: ROUNDS })
  },
)
