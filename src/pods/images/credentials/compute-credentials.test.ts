import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeCredentials, matchesRegistry, toRegistryKey } from './compute-credentials.ts'

test('toRegistryKey() leaves host, port and path', () => {
  const rows: [location: string, key: string][] = [
    ['r.example', 'r.example'],
    ['r.example:5000', 'r.example:5000'],
    ['https://r.example', 'r.example'],
    ['http://r.example/', 'r.example'],
    ['https://index.docker.io/v1/', 'index.docker.io'],
    ['https://r.example/v2/', 'r.example'],
    ['https://r.example/v2/team', 'r.example/team'],
    ['r.example/v1', 'r.example/v1'],
    ['r.example/v20/x', 'r.example/v20/x'],
    ['r.example/team/', 'r.example/team/'],
    ['https://me@r.example/team?x#y', 'r.example/team'],
    ['', ''],
  ]
  assert.deepEqual(
    rows.map(([location]) => [location, toRegistryKey(location)]),
    rows,
  )
})

test('matchesRegistry() compares port, labels and path', () => {
  const rows: [key: string, repository: string, matches: boolean][] = [
    ['r.example', 'r.example/a', true],
    ['r.example', 'r.example:5000/a', false],
    ['r.example:5000', 'r.example:5000/a', true],
    ['r.example:5000', 'r.example:5001/a', false],
    ['r.example:5000', 'r.example/a', false],
    ['r.example', 'other.example/a', false],
    ['example', 'r.example/a', false],
    ['*.example', 'r.example/a', true],
    ['*.example', 'a.r.example/a', false],
    ['*.*.example', 'a.r.example/a', true],
    ['*.example:5000', 'r.example:5000/a', true],
    ['r*1.example', 'reg-01.example/a', true],
    ['r*1.example', 'reg-02.example/a', false],
    ['r?.example', 'r1.example/a', true],
    ['r?.example', 'r.example/a', false],
    ['*', 'localhost/a', true],
    ['**a*b', 'aab/x', true],
    ['r.example/team', 'r.example/team/web', true],
    ['r.example/team', 'r.example/teams/web', true],
    ['r.example/team/', 'r.example/teams/web', false],
    ['r.example/team/web', 'r.example/team', false],
    ['[::1]:5000', '[::1]:5000/a', true],
    ['[::1]', '[::1]:5000/a', false],
    ['127.0.0.1:5000', '127.0.0.1:5000/a', true],
    ['', 'r.example/a', false],
  ]
  assert.deepEqual(
    rows.map(([key, repository]) => [key, repository, matchesRegistry(key, repository)]),
    rows,
  )
})

describe('computeCredentials()', () => {
  const keyring = [
    'r.example',
    '*.example',
    'r.example/team',
    'https://r.example/v2/team/web',
    'r.example',
    'https://index.docker.io/v1/',
  ].map((location, index) => ({ location, value: `${index} ${location}` }))
  const rows: [what: string, repository: string, found: string[]][] = [
    [
      'takes all that match, the longest path first, equal ones as they came',
      'r.example/team/web',
      ['3 https://r.example/v2/team/web', '2 r.example/team', '0 r.example', '4 r.example', '1 *.example'],
    ],
    ['leaves out what does not match', 'other.example/web', ['1 *.example']],
    ['has a place for Docker Hub', 'docker.io/library/nginx', ['5 https://index.docker.io/v1/']],
    ['finds nothing for an unknown registry', 'r.test/a', []],
  ]
  for (const [what, repository, found] of rows) {
    test(what, () => assert.deepEqual(computeCredentials(keyring, repository), found))
  }

  test('prefers a login that names docker.io itself', () => {
    const both = [...keyring, { location: 'docker.io', value: 'own' }]
    assert.deepEqual(computeCredentials(both, 'docker.io/library/nginx'), ['own'])
  })
})
