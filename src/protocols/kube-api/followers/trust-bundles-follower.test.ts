import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FakeCertificatesApi } from '../../../../test/fakes/fake-certificates-api.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { TrustBundlesFollower } from './trust-bundles-follower.ts'

const never = new AbortController().signal

function start(t: TestContext) {
  const [clock, client, stop] = [new FakeClock(), new FakeCertificatesApi(), new AbortController()]
  const tasks = new TaskGroup(stop.signal)
  t.after(async () => {
    stop.abort(new Error('the test ends'))
    await tasks.join()
    assert.equal(clock.sleeping, 0)
  })
  const follower = new TrustBundlesFollower({ client, clock, tasks, random: () => 0, log: silentLogger })
  /** Asks, and lets time pass until there is an answer. */
  const names = async () => {
    const asked = follower.all(never)
    const settled = asked.then(
      () => true,
      () => true,
    )
    while (!(await Promise.race([settled, setImmediate(false)]))) await clock.advance(50)
    return (await asked).map(({ metadata }) => metadata?.name)
  }
  return { clock, client, names }
}

describe('TrustBundlesFollower', () => {
  test('asks for nothing before the first caller, then follows', async (t) => {
    const { clock, client, names } = start(t)
    client.addBundle('a', 'pem')
    await clock.advance(60_000)
    assert.deepEqual(client.asked, [])
    assert.deepEqual(await names(), ['a'])
    client.addBundle('b', 'pem')
    while ((await names()).length < 2) await clock.advance(10)
    const list = 'GET /apis/certificates.k8s.io/v1beta1/clustertrustbundles'
    assert.deepEqual(client.asked, ['GET /apis/certificates.k8s.io/v1beta1', list])
  })

  test('takes the older version where there is no newer', async (t) => {
    const { client, names } = start(t)
    client.bundleVersions = ['v1alpha1']
    assert.deepEqual(await names(), [])
    assert.equal(client.asked.at(-1), 'GET /apis/certificates.k8s.io/v1alpha1/clustertrustbundles')
  })

  test('says after ten seconds that there are none, and finds those that come later', async (t) => {
    const { clock, client, names } = start(t)
    client.bundleVersions = []
    await assert.rejects(names(), { message: 'Cannot have trust bundles: the API server does not have any' })
    client.bundleVersions = ['v1beta1']
    client.addBundle('a', 'pem')
    await clock.advance(10_000)
    assert.deepEqual(await names(), ['a'])
  })
})
