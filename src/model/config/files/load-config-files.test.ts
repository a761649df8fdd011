import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HEADER, loadSettings, problemsOf } from '../../../../test/fakes/load-settings.ts'

type Entries = NonNullable<Parameters<typeof loadSettings>[1]>

function load(entries: Entries, base = '', folder = '/d') {
  const texts = Object.fromEntries(
    Object.entries(entries).map(([name, text]) => [
      name,
      typeof text === 'string' && text !== '' ? HEADER + text : text,
    ]),
  )
  const argv = ['--kubeconfig=/k', '--config=/c', `--config-dir=${folder}`]
  return loadSettings(argv, { '/d': null, ...texts, '/c': HEADER + base })
}

describe('--config-dir', () => {
  test('applies in byte order, folders at their place, and only *.conf', async () => {
    const { config } = await load({
      '/d/10.conf': 'clusterDomain: ten\nmaxPods: 10\nport: 10\n',
      '/d/15': null,
      '/d/15/z.conf': 'maxPods: 15\nport: 15\n',
      '/d/20.conf': 'port: 20\n',
      '/d/9.conf': 'providerID: nine\n',
      '/d/30.yaml': 'port: 30\n',
      '/d/B.conf': 'registryBurst: 1\n',
      '/d/a.conf': 'registryBurst: 2\n',
    })
    const { clusterDomain, maxPods, port, providerID, registryBurst } = config
    assert.deepEqual([clusterDomain, maxPods, port, providerID, registryBurst], ['ten', 15, 20, 'nine', 2])
  })

  test('reads linked files but does not walk linked folders', async () => {
    const { config } = await load({
      '/d/a.conf': { link: '/elsewhere/file' },
      '/d/b': { link: '/elsewhere' },
      '/elsewhere': null,
      '/elsewhere/file': 'maxPods: 7\n',
      '/elsewhere/x.conf': 'maxPods: 8\n',
    })
    assert.equal(config.maxPods, 7)
  })

  test('loads nothing through a link to the folder, unless it ends in a slash', async () => {
    const entries = { '/link': { link: '/d' }, '/d/a.conf': 'maxPods: 7\n' }
    assert.equal((await load(entries, '', '/link')).config.maxPods, 110)
    assert.equal((await load(entries, '', '/link/')).config.maxPods, 7)
  })

  test('refuses a folder that is not there', async () => {
    assert.match((await problemsOf(load({}, '', '/nowhere'))).join(), /^--config-dir: /)
  })

  const fatal: readonly (readonly [what: string, entries: Entries, problem: RegExp])[] = [
    [
      'a field given twice',
      { '/d/a.conf': 'maxPods: 1\nmaxPods: 2\n' },
      /^maxPods: expected each field once \(\/d\/a.conf line 4\)$/,
    ],
    ['a wrong type', { '/d/a.conf': 'maxPods: many\n' }, /^maxPods: expected a whole number .*\/d\/a.conf line 3\)$/],
    ['an empty file', { '/d/a.conf': '' }, /^\/d\/a.conf: expected a configuration, the file is empty$/],
    ['a link to a folder with the ending', { '/d/a.conf': { link: '/e' }, '/e': null }, /^\/d\/a.conf: /],
  ]
  for (const [what, entries, problem] of fatal) {
    test(`refuses ${what}`, async () => {
      assert.match((await problemsOf(load(entries))).join(), problem)
    })
  }

  for (const header of [
    'kind: KubeletConfiguration\n',
    'apiVersion: kubelet.config.k8s.io/v1beta1\n',
    'apiVersion: v1\nkind: KubeletConfiguration\n',
  ]) {
    test(`refuses a file with only the header ${JSON.stringify(header)}`, async () => {
      const problems = await problemsOf(loadSettings(['--config-dir=/d'], { '/d': null, '/d/a.conf': header }))
      assert.match(problems.join(), /^\/d\/a.conf: (kind|apiVersion): expected/)
    })
  }

  test('says where manifests go when --config names them, as it did once', async () => {
    const elsewhere = /since Kubernetes 1.10 --config names .* --pod-manifest-path or staticPodPath$/
    for (const file of [null, 'apiVersion: v1\nkind: Pod\n']) {
      const problems = await problemsOf(loadSettings(['--config=/m'], { '/m': file }))
      assert.match(problems.join(), elsewhere)
    }
  })

  test('leaves out unknown fields, with a warning', async () => {
    const { warnings } = await load({ '/d/a.conf': 'nope: 1\n' })
    assert.deepEqual(warnings, ['/d/a.conf line 3: unknown field nope'])
  })

  test('takes a name in the wrong case where the exact one is not there', async () => {
    const { config, warnings } = await load({ '/d/a.conf': 'clusterdomain: x\nmaxpods: 5\nlogging: {VERBOSITY: 4}\n' })
    assert.deepEqual([config.clusterDomain, config.maxPods, config.logging.verbosity], ['x', 110, 4])
    assert.equal(warnings.length, 3)
  })

  test('replaces scalars and lists, merges objects and maps, and null restores the default', async () => {
    const base =
      'maxPods: 5\nclusterDNS: [10.0.0.1]\nkubeReserved: {cpu: "1"}\nauthentication: {anonymous: {enabled: true}}\nport: 7\n'
    const { config } = await load(
      {
        '/d/a.conf': 'maxPods: 6\nclusterDNS: [10.0.0.2]\nkubeReserved: {memory: 1Gi, cpu: null}\nport: null\n',
        '/d/b.conf': 'authentication: {webhook: {enabled: false}}\n',
      },
      base,
    )
    const { maxPods, clusterDNS, kubeReserved, port, authentication } = config
    assert.deepEqual([maxPods, clusterDNS, kubeReserved, port], [6, ['10.0.0.2'], { memory: '1Gi' }, 10_250])
    assert.deepEqual([authentication.anonymous.enabled, authentication.webhook.enabled], [true, false])
  })

  test('adds thresholds to the defaults of the file, and mergeDefaultEvictionSettings does nothing there', async () => {
    const added = await load({ '/d/a.conf': 'evictionHard: {pid.available: "100"}\n' })
    assert.equal(Object.keys(added.config.evictionHard).length, 6)
    const text = 'evictionHard: {pid.available: "100"}\nmergeDefaultEvictionSettings: true\n'
    const partial = await load({ '/d/a.conf': text }, 'evictionHard: {memory.available: 1Gi}\n')
    assert.deepEqual(partial.config.evictionHard, { 'memory.available': '1Gi', 'pid.available': '100' })
  })

  test('has no thresholds without --config', async () => {
    const { config } = await loadSettings(['--config-dir=/d'], { '/d': null, '/d/a.conf': `${HEADER}maxPods: 5\n` })
    assert.deepEqual([config.maxPods, config.evictionHard, config.authentication.anonymous.enabled], [5, {}, false])
  })

  test('turns an explicit empty list of the file back into its default', async () => {
    assert.deepEqual((await load({}, 'enforceNodeAllocatable: []\n')).config.enforceNodeAllocatable, ['pods'])
    const alone = await loadSettings(['--config=/c'], { '/c': `${HEADER}enforceNodeAllocatable: []\n` })
    assert.deepEqual(alone.config.enforceNodeAllocatable, [])
  })

  test('does not change the report frequency with the update frequency', async () => {
    const { config } = await load({ '/d/a.conf': 'nodeStatusUpdateFrequency: 20s\n' })
    assert.deepEqual([config.nodeStatusUpdateFrequency, config.nodeStatusReportFrequency], [20_000, 300_000])
  })

  test('yields to flags', async () => {
    const argv = ['--config-dir=/d', '--max-pods=9', '--feature-gates=EnvFiles=false']
    const text = `${HEADER}maxPods: 5\nfeatureGates: {PodsAPI: true}\n`
    const { config } = await loadSettings(argv, { '/d': null, '/d/a.conf': text })
    assert.deepEqual([config.maxPods, config.featureGates], [9, { PodsAPI: true, EnvFiles: false }])
  })
})
