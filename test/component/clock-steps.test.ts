import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod as ApiPod } from '../../src/model/generated/core-v1.ts'
import { createCluster, joinCluster } from './create-cluster.ts'
import { changes, createWorld, instanceOf } from './create-world.ts'

const HOUR_MS = 3_600_000
const container = { name: 'main', image: 'registry.test/app:1', imagePullPolicy: 'IfNotPresent' }
const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 5, initialDelaySeconds: 20 }

const conditions = (pod: ApiPod | undefined) =>
  pod?.status?.conditions?.map(({ type, status, lastTransitionTime }) => [type, status, lastTransitionTime])

describe('a clock that is set while pods run', () => {
  for (const [how, hours] of [
    ['forward', 5],
    ['back', -5],
  ] as const) {
    test(`${how} by hours: nothing flaps, nothing waits for hours, nothing is reported again and again`, async (t) => {
      await using world = await createWorld()
      const cluster = await createCluster(t, world)
      await using agent = await joinCluster(world, cluster, { places: 16 })
      agent.setPods([])
      await cluster.create('steady')
      await cluster.create('probed', { containers: [{ ...container, readinessProbe }] })
      await cluster.create('crashing', { containers: [{ ...container, name: 'crash' }] })
      await agent.pass(30_000)
      for (const wait of [15_000, 25_000, 5000]) {
        world.cri.exitContainer(instanceOf(world, 'crash'), 1)
        await agent.pass(wait, 5000)
      }
      const waiting = await cluster.get('crashing')
      assert.equal(waiting?.status.containerStatuses?.[0]?.state?.waiting?.reason, 'CrashLoopBackOff')
      const reported = [conditions(await cluster.get('steady')), conditions(await cluster.get('probed'))]
      const [done, probes, sent] = [changes(world).length, agent.probeRuns.length, cluster.client.sent.length]

      world.clock.step(hours * HOUR_MS)
      await agent.pass(60_000, 5000)
      assert.deepEqual([conditions(await cluster.get('steady')), conditions(await cluster.get('probed'))], reported)
      const crashed = await cluster.get('crashing')
      assert.ok(crashed?.status.containerStatuses?.[0]?.state?.running, 'no longer in its back-off')
      assert.deepEqual(
        changes(world)
          .slice(done)
          .filter((change) => !change.startsWith('remove')),
        ['createContainer crash', 'startContainer crash'],
      )
      assert.equal(agent.probeRuns.length - probes, 12, 'asked every five seconds')
      const statuses = cluster.client.sent.slice(sent).filter((line) => line.startsWith('PATCH'))
      assert.ok(statuses.length <= 3, `${statuses.length} statuses`)

      await cluster.create('late', { containers: [{ ...container, readinessProbe }] })
      await agent.pass(30_000)
      const ready = (await cluster.get('late'))?.status.conditions?.find(({ type }) => type === 'Ready')
      assert.equal(ready?.status, 'True')
      world.clock.step(-hours * HOUR_MS)
      await agent.pass(30_000, 5000)
      assert.deepEqual([conditions(await cluster.get('steady')), conditions(await cluster.get('probed'))], reported)
    })
  }
})
