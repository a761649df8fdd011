import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { loadSettings, problemsOf } from '../../../../test/fakes/load-settings.ts'

const FLAGS = ['--image-credential-provider-config=/p', '--image-credential-provider-bin-dir=/bin/']
const header = (version = 'v1') => `apiVersion: kubelet.config.k8s.io/${version}\nkind: CredentialProviderConfig\n`
const provider = (fields: object = {}) => ({
  name: 'ecr',
  matchImages: ['*.registry.example'],
  defaultCacheDuration: '10m',
  apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
  ...fields,
})
const file = (providers: readonly object[], version = 'v1') =>
  `${header(version)}providers: ${JSON.stringify(providers)}\n`
const token = {
  serviceAccountTokenAudience: 'reg',
  cacheType: 'Token',
  requireServiceAccount: false,
}

describe('loadCredentialProviders()', () => {
  test('has the hash of its files that the Go kubelet shows, and none without files', async () => {
    const text = file([provider()])
    const { credentialProvidersHash } = await loadSettings(FLAGS, { '/p': text })
    const prefix = Buffer.alloc(8)
    prefix.writeUInt32BE(text.length, 4)
    const hash = createHash('sha256').update(prefix).update(text).digest('hex')
    assert.equal(credentialProvidersHash, `sha256:${hash}`)
    assert.equal((await loadSettings([])).credentialProvidersHash, undefined)
  })

  for (const version of ['v1', 'v1beta1', 'v1alpha1']) {
    test(`reads ${version}`, async () => {
      const text = file([provider({ args: ['get'], env: [{ name: 'A', value: 'b' }] })], version)
      const [found, ...others] = (await loadSettings(FLAGS, { '/p': text })).credentialProviders
      assert.deepEqual(others, [])
      const { name, program, args, env, defaultCacheDuration } = found ?? {}
      assert.deepEqual(
        { name, program, args, env, defaultCacheDuration },
        {
          name: 'ecr',
          program: '/bin/ecr',
          args: ['get'],
          env: [{ name: 'A', value: 'b' }],
          defaultCacheDuration: 600_000,
        },
      )
    })
  }

  test('reads the files of a folder by name', async () => {
    const entries = {
      '/p': null,
      '/p/2.yaml': file([provider({ name: 'two' })]),
      '/p/1.json': JSON.stringify({
        apiVersion: 'kubelet.config.k8s.io/v1',
        kind: 'CredentialProviderConfig',
        providers: [provider({ name: 'one' })],
      }),
      '/p/readme': 'no',
    }
    const { credentialProviders } = await loadSettings(FLAGS, entries)
    assert.deepEqual(
      credentialProviders.map(({ name }) => name),
      ['one', 'two'],
    )
  })

  test('has nothing without the flags', async () => {
    assert.deepEqual((await loadSettings([])).credentialProviders, [])
  })

  const refused: [what: string, text: string, problems: string[]][] = [
    [
      'another kind',
      'apiVersion: kubelet.config.k8s.io/v1\nkind: Pod\n',
      ['/p: kind: expected CredentialProviderConfig'],
    ],
    ['no plugins', `${header()}providers: []\n`, ['providers: expected at least one plugin (/p line 3)']],
    [
      'a plugin without anything, with the line of each',
      `${header()}providers:\n- args: [x]\n`,
      ['name', 'apiVersion', 'matchImages', 'defaultCacheDuration'].map(
        (name) => `providers[0].${name}: expected a value (/p line 3)`,
      ),
    ],
    [
      'values that make no sense',
      `${header()}providers:\n- name: a/b\n  matchImages: ["https://x", "a b"]\n  defaultCacheDuration: -1s\n  apiVersion: v2\n`,
      [
        'providers[0].name: expected the name of a program, without slashes and spaces (/p line 4)',
        'providers[0].matchImages[0]: expected a host without a scheme, such as *.registry.example/path (/p line 5)',
        'providers[0].matchImages[1]: expected host[:port][/path], such as *.registry.example/path (/p line 5)',
        'providers[0].defaultCacheDuration: expected at least 0s (/p line 6)',
        'providers[0].apiVersion: expected one of credentialprovider.kubelet.k8s.io/v1, credentialprovider.kubelet.k8s.io/v1beta1, credentialprovider.kubelet.k8s.io/v1alpha1 (/p line 7)',
      ],
    ],
    ['two of one name', file([provider(), provider()]), ['providers[1].name: expected each plugin once (/p line 3)']],
    [
      'a field that is not there',
      file([provider({ matchImage: [] })]),
      ['providers[0].matchImage: unknown field, did you mean matchImages? (/p line 3)'],
    ],
    [
      'tokens before v1',
      file([provider({ tokenAttributes: token })], 'v1beta1'),
      ['providers[0].tokenAttributes: unknown field (/p line 3)'],
    ],
    [
      'tokens with half of what they need',
      file([
        provider({
          apiVersion: 'credentialprovider.kubelet.k8s.io/v1beta1',
          tokenAttributes: { requireServiceAccount: false, requiredServiceAccountAnnotationKeys: ['a'] },
        }),
      ]),
      [
        'providers[0].tokenAttributes: expected the plugin to have apiVersion credentialprovider.kubelet.k8s.io/v1 (/p line 3)',
        'providers[0].tokenAttributes.serviceAccountTokenAudience: expected a value (/p line 3)',
        'providers[0].tokenAttributes.cacheType: expected Token or ServiceAccount (/p line 3)',
        'providers[0].tokenAttributes.requiredServiceAccountAnnotationKeys: expected requireServiceAccount to be true (/p line 3)',
      ],
    ],
  ]
  for (const [what, text, problems] of refused) {
    test(`refuses ${what}`, async () => {
      assert.deepEqual(await problemsOf(loadSettings(FLAGS, { '/p': text })), problems)
    })
  }

  test('refuses one flag without the other, and what is not there', async () => {
    assert.deepEqual(await problemsOf(loadSettings(FLAGS.slice(0, 1), { '/p': file([provider()]) })), [
      '--image-credential-provider-bin-dir: expected a path, because --image-credential-provider-config is given',
    ])
    assert.deepEqual(await problemsOf(loadSettings(FLAGS)), ['/p: Cannot read "/p": no such file'])
    assert.deepEqual(await problemsOf(loadSettings(FLAGS, { '/p': null })), [
      '--image-credential-provider-config: expected a file with .json, .yaml or .yml at the end of its name in it',
    ])
  })
})
