import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HEADER, loadFields, loadSettings, shown } from '../../../../test/fakes/load-settings.ts'

describe('values that can only hurt', () => {
  const periods: readonly [string, string][] = [
    ['fileCheckFrequency', '20s'],
    ['httpCheckFrequency', '20s'],
    ['nodeStatusReportFrequency', '5m0s'],
    ['cpuManagerReconcilePeriod', '10s'],
    ['runtimeRequestTimeout', '2m0s'],
    ['streamingConnectionIdleTimeout', '4h0m0s'],
    ['evictionPressureTransitionPeriod', '5m0s'],
  ]
  for (const [name, used] of periods) {
    test(`a negative ${name} is replaced by its default, with a warning`, async () => {
      const settings = await loadFields({ [name]: '-5s' })
      assert.equal(shown(settings, name), used)
      const warning = `${name}: "-5s": expected 0s or more, ${used} is used (/kubelet.json line 1)`
      assert.deepEqual(settings.warnings, [warning])
    })
  }

  test('a negative limit of processes is none, with a warning', async () => {
    const settings = await loadFields({ podPidsLimit: -5 })
    assert.equal(settings.config.podPidsLimit, -1)
    const warning = 'podPidsLimit: -5: expected -1 or more, there is no limit (/kubelet.json line 1)'
    assert.deepEqual(settings.warnings, [warning])
    assert.deepEqual((await loadFields({ podPidsLimit: -1 })).warnings, [])
  })

  test('periods of a shutdown below nothing, and two for one priority, are reported with their lines', async () => {
    const file = `${HEADER}shutdownGracePeriodByPodPriority:
- priority: 10
  shutdownGracePeriodSeconds: -3
- priority: 10
  shutdownGracePeriodSeconds: 4
`
    const { config, warnings } = await loadSettings(['--kubeconfig=/k', '--config=/c'], { '/c': file })
    const group = 'shutdownGracePeriodByPodPriority'
    assert.deepEqual(
      config.shutdownGracePeriodByPodPriority.map((each) => each.shutdownGracePeriodSeconds),
      [0, 4],
    )
    assert.deepEqual(warnings, [
      `${group}[0].shutdownGracePeriodSeconds: -3: expected 0 or more, 0 is used (/c line 5)`,
      `${group}[1].priority: 10: expected each priority once, of several the last one counts (/c line 6)`,
    ])
  })
})
