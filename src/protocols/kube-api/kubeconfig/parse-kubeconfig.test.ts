import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Kubeconfig } from './kubeconfig.ts'
import { openKubeconfig } from './open-kubeconfig.ts'
import { parseKubeconfig } from './parse-kubeconfig.ts'

const PATH = '/etc/kubernetes/kubelet.conf'
const encode = (text: string) => Buffer.from(text).toString('base64')

/** A file with these lines in its cluster and its user. */
function parse(cluster: string, user = '', context = 'current-context: here'): Kubeconfig {
  const indent = (text: string) => text.replaceAll(/^/gm, '    ')
  return read(`apiVersion: v1
kind: Config
clusters:
- name: other
  cluster: { server: "https://other" }
- name: c
  cluster:
${indent(cluster)}
users:
- name: u
  user:
${indent(user)}
contexts:
- name: here
  context: { cluster: c, user: u }
- name: nowhere
  context: { cluster: gone }
- name: nobody
  context: { cluster: c }
${context}
`)
}

function read(text: string): Kubeconfig {
  return parseKubeconfig(openKubeconfig(Buffer.from(text), PATH))
}

const SERVER = 'server: https://api.example.com:6443'
const exec = (rest: string) => `exec:\n  apiVersion: client.authentication.k8s.io/v1\n  command: get-token\n${rest}`

describe('parseKubeconfig()', () => {
  test('takes cluster and user of the current context, with paths relative to the file', () => {
    const cluster = `${SERVER}\ncertificate-authority: pki/ca.crt\ntls-server-name: kubernetes\nproxy-url: http://proxy:3128`
    const user = 'client-certificate: /pki/kubelet.pem\nclient-key: key.pem\ntokenFile: token\nas: someone'
    const { server, proxy, ...rest } = parse(cluster, user)
    assert.deepEqual([server.href, proxy?.href], ['https://api.example.com:6443/', 'http://proxy:3128/'])
    assert.deepEqual(rest, {
      path: PATH,
      authority: { kind: 'file', path: '/etc/kubernetes/pki/ca.crt' },
      insecure: false,
      serverName: 'kubernetes',
      execConfig: undefined,
      user: {
        certificate: {
          certificate: { kind: 'file', path: '/pki/kubelet.pem' },
          key: { kind: 'file', path: '/etc/kubernetes/key.pem' },
        },
        login: { kind: 'tokenFile', path: '/etc/kubernetes/token', fallback: undefined },
        impersonate: { 'impersonate-user': 'someone' },
      },
    })
  })

  test('takes what stands in the file before what it points to', () => {
    const { authority, user } = parse(
      `${SERVER}\ncertificate-authority: ca.crt\ncertificate-authority-data: ${encode('CA')}`,
      `client-certificate-data: ${encode('CERT')}\nclient-key-data: ${encode('KEY')}\ntoken: t`,
    )
    assert.deepEqual(authority, { kind: 'data', pem: 'CA' })
    assert.deepEqual(user, {
      certificate: { certificate: { kind: 'data', pem: 'CERT' }, key: { kind: 'data', pem: 'KEY' } },
      login: { kind: 'token', token: 't' },
      impersonate: {},
    })
  })

  test('takes a program that gives credentials', () => {
    const rest =
      '  args: [-a, "$(b)"]\n  env: [{ name: A, value: "1" }]\n  interactiveMode: Never\n  installHint: get it\n  provideClusterInfo: true'
    const { login } = parse(SERVER, exec(rest)).user
    assert.deepEqual(login, {
      kind: 'exec',
      plugin: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: 'get-token',
        args: ['-a', '$(b)'],
        env: { A: '1' },
        installHint: 'get it',
        provideClusterInfo: true,
      },
    })
    const beta = exec('  interactiveMode: IfAvailable').replace('/v1', '/v1beta1').replace('get-token', './get-token')
    const found = parse(SERVER, beta).user.login
    assert.equal(found.kind === 'exec' && found.plugin.command, '/etc/kubernetes/get-token')
  })

  test('takes a context without a user, and an address without a scheme', () => {
    const { user, server } = parse('server: api:8080', '', 'current-context: nobody')
    assert.deepEqual(user, { certificate: undefined, login: { kind: 'none' }, impersonate: {} })
    assert.equal(server.href, 'http://api:8080/')
    assert.equal(parse('server: api\ninsecure-skip-tls-verify: true').server.href, 'https://api/')
  })

  const faults: readonly [string, () => Kubeconfig, string][] = [
    ['no file of this kind', () => read('kind: Pod'), 'kind: expected Config (line 1)'],
    ['no YAML', () => read('a: [1'), /line 1/.source],
    [
      'no current context',
      () => parse(SERVER, '', ''),
      'current-context: it is empty, expected one of contexts: "here", "nowhere", "nobody" (line 1)',
    ],
    [
      'an unknown context',
      () => parse(SERVER, '', 'current-context: x'),
      'current-context: there is no "x", expected one of contexts: "here", "nowhere", "nobody" (line 20)',
    ],
    [
      'an unknown cluster',
      () => parse(SERVER, '', 'current-context: nowhere'),
      'contexts[1].context.cluster: there is no "gone", expected one of clusters: "other", "c" (line 17)',
    ],
    [
      'no server',
      () => parse('tls-server-name: a'),
      'clusters[1].cluster.server: expected the URL of an API server (line 7)',
    ],
    [
      'another scheme',
      () => parse('server: ftp://a'),
      'clusters[1].cluster.server: expected a URL with https:// or http:// and a host (line 8)',
    ],
    [
      'no host',
      () => parse('server: https:///api'),
      'clusters[1].cluster.server: expected a URL with https:// or http:// and a host (line 8)',
    ],
    [
      'a path without a scheme',
      () => parse('server: api/prefix'),
      'clusters[1].cluster.server: expected https:// or http:// before it, as it has a path (line 8)',
    ],
    [
      'secrets for an address without a scheme',
      () => parse('server: api:6443', 'token: t'),
      'clusters[1].cluster.server: expected https:// or http:// before it (line 8)',
    ],
    [
      'a user in the URL',
      () => parse('server: https://me:secret@api'),
      'clusters[1].cluster.server: expected no user in the URL, but in users (line 8)',
    ],
    [
      'trust in all and in one',
      () => parse(`${SERVER}\ninsecure-skip-tls-verify: true\ncertificate-authority: a`),
      'clusters[1].cluster.insecure-skip-tls-verify: expected no certificate-authority beside it (line 9)',
    ],
    [
      'a key alone',
      () => parse(SERVER, 'client-key: a'),
      'users[0].user.client-certificate: expected one for the client-key (line 11)',
    ],
    [
      'no base64',
      () => parse(SERVER, 'client-key-data: "%"'),
      'users[0].user.client-key-data: expected base64 (line 12)',
    ],
    ['a number for text', () => parse(SERVER, 'token: 7'), 'users[0].user.token: expected text (line 12)'],
    [
      'two ways',
      () => parse(SERVER, 'token: a\nusername: b'),
      'users[0].user: expected only one of token, username and exec (line 11)',
    ],
    [
      'no mode',
      () => parse(SERVER, exec('')),
      'users[0].user.exec.interactiveMode: expected one of Never, IfAvailable, Always (line 12)',
    ],
    [
      'a terminal',
      () => parse(SERVER, exec('  interactiveMode: Always')),
      'users[0].user.exec.interactiveMode: Always needs a terminal, which a node agent has not (line 15)',
    ],
    [
      'an old provider',
      () => parse(SERVER, 'auth-provider: { name: gcp }'),
      'users[0].user.auth-provider: Kubernetes has removed these, expected an exec plugin (line 12)',
    ],
  ]
  for (const [name, read, problem] of faults) {
    test(`reports ${name}, with its place`, () => {
      assert.throws(read, (error: Error) => {
        assert.equal(error.name, 'KubeconfigError')
        if (name === 'no YAML') assert.match(error.message, /^Cannot use kubeconfig "[^"]+": .*\(line 1, column \d+\)$/)
        else assert.equal(error.message, `Cannot use kubeconfig "${PATH}": ${problem}`)
        return true
      })
    })
  }
})
