import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADER, loadFields, loadSettings, problemsOf } from '../../../test/fakes/load-settings.ts'
import { ConfigError } from './config-error.ts'

test('a value of a wrong type does not hide what is wrong elsewhere', async () => {
  const problems = await problemsOf(
    loadFields({ maxPods: 'many', healthzPort: 70_000, imageGCHighThresholdPercent: 101 }),
  )
  const paths = ['healthzPort', 'imageGCHighThresholdPercent', 'maxPods']
  assert.deepEqual([...new Set(problems.map((problem) => problem.split(':')[0] ?? ''))].sort(), paths)
})

test('what makes no sense is reported with the file and the line, or the flag, that set it', async () => {
  const base = `${HEADER}maxPods: -1
evictionSoft:
  memory.available: 5%
shutdownGracePeriod: 10s
healthzPort: 70000
logging: { verbosity: 3 }
`
  const dropIn = `${HEADER}logging:
  format: xml
evictionSoft:
  nodefs.available: 200%
shutdownGracePeriodCriticalPods: 20s
readonlyport: 99999
`
  const files = { '/c': base, '/d': null, '/d/10.conf': `${HEADER}healthzPort: 70001\n`, '/d/20.conf': dropIn }
  const argv = ['--kubeconfig=/k', '--config=/c', '--config-dir=/d', '--event-burst=-3', '--node-labels=a b=c']
  const places = await loadSettings(argv, files).then(
    () => assert.fail('it was taken'),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError)
      return Object.fromEntries(error.problems.map(({ path, where }) => [path, where]))
    },
  )
  assert.deepEqual(places, {
    '--node-labels[a b]': undefined,
    maxPods: '/c line 3',
    'evictionSoft[nodefs.available]': '/d/20.conf line 6',
    shutdownGracePeriodCriticalPods: '/d/20.conf line 7',
    healthzPort: '/d/10.conf line 3',
    readOnlyPort: '/d/20.conf line 8',
    'logging.format': '/d/20.conf line 4',
    eventBurst: '--event-burst',
    // Not set anywhere: that is what is wrong.
    'evictionSoftGracePeriod[memory.available]': undefined,
    'evictionSoftGracePeriod[nodefs.available]': undefined,
  })
})

test('a wrong type in a drop-in is reported with its file and line', async () => {
  const files = { '/d': null, '/d/a.conf': `${HEADER}maxPods: many\n`, '/d/b.conf': `${HEADER}port: 5\n` }
  const problems = await problemsOf(loadSettings(['--config-dir=/d'], files))
  assert.match(problems.join(), /^maxPods: expected a whole number .* \(\/d\/a.conf line 3\)$/)
})
