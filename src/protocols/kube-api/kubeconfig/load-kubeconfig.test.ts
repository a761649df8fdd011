import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCertificate } from '../../../../test/builders/create-certificate.ts'
import { loadUsableKubeconfig } from './load-kubeconfig.ts'

const PATH = '/etc/kubernetes/kubelet.conf'
const own = await createCertificate(Date.now(), 3_600_000)
const other = await createCertificate(Date.now(), 3_600_000)
const encode = (text: string) => Buffer.from(text).toString('base64')

const FILES: Readonly<Record<string, string>> = {
  '/pki/ca.crt': `Some words before it\n${other.certificatePem}`,
  '/pki/own.pem': `${own.certificatePem}${own.keyPem}`,
  '/pki/own.key': own.keyPem,
  '/pki/other.key': other.keyPem,
  '/pki/text': 'hello',
  '/pki/empty': ' \n',
  '/pki/token': 'a token\n',
}

/** The message of what is wrong with a file with these lines in its cluster and its user; empty when nothing is. */
async function problemOf(cluster: string, user = '{}', path = PATH): Promise<string> {
  const text = `clusters:
- name: c
  cluster: { server: 'https://api', ${cluster} }
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x
users:
- name: u
  user: ${user}
`
  const files: Readonly<Record<string, string>> = { ...FILES, [PATH]: text }
  const deps = {
    files: {
      async readFile(path: string) {
        if (path === '/secret') throw Object.assign(new Error('no'), { code: 'EACCES' })
        const found = files[path]
        if (found === undefined) throw Object.assign(new Error('no'), { code: 'ENOENT' })
        return Buffer.from(found)
      },
    },
    environment: { PATH: '/usr/bin' },
    isProgram: async (command: string, path: string) =>
      command === '/opt/get-token' || (command === 'get-token' && path === '/usr/bin'),
  }
  try {
    await loadUsableKubeconfig(deps, path)
    return ''
  } catch (error) {
    assert.ok(Error.isError(error) && error.name === 'KubeconfigError')
    return error.message.replace(`Cannot use kubeconfig "${PATH}": `, '')
  }
}

const plugin = (rest: string) =>
  `{ exec: { apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, ${rest} } }`

describe('loadUsableKubeconfig()', () => {
  const good: readonly [string, string, string?][] = [
    ['an authority in a file', 'certificate-authority: /pki/ca.crt'],
    ['an authority in itself', `certificate-authority-data: ${encode(own.certificatePem)}`],
    ['certificate and key in one file', '', '{ client-certificate: /pki/own.pem, client-key: /pki/own.pem }'],
    ['certificate and key in two', '', '{ client-certificate: /pki/own.pem, client-key: /pki/own.key }'],
    ['a token file', '', '{ tokenFile: /pki/token }'],
    ['a token file to come, with a token until then', '', '{ tokenFile: /pki/later, token: t }'],
    ['a program in PATH', '', plugin('command: get-token')],
    ['a program elsewhere', '', plugin('command: ../../opt/get-token')],
  ]
  for (const [name, cluster, user] of good) {
    test(`takes ${name}`, async () => assert.equal(await problemOf(cluster, user), ''))
  }

  const bad: readonly [string, string, string, string?][] = [
    [
      'an authority that is no PEM',
      'clusters[0].cluster.certificate-authority-data: expected certificates in PEM form (line 3)',
      `certificate-authority-data: ${encode('hello')}`,
    ],
    [
      'an authority that only looks like PEM',
      'clusters[0].cluster.certificate-authority-data: expected certificates in PEM form (line 3)',
      `certificate-authority-data: ${encode('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')}`,
    ],
    [
      'a file of authorities without any',
      'clusters[0].cluster.certificate-authority: expected certificates in PEM form (line 3)',
      'certificate-authority: /pki/text',
    ],
    [
      'a file of authorities that is not there',
      'clusters[0].cluster.certificate-authority: cannot read "/etc/kubernetes/ca.crt": there is no such file (line 3)',
      'certificate-authority: ca.crt',
    ],
    [
      'a certificate that is not there',
      'users[0].user.client-certificate: cannot read "/pki/none": there is no such file (line 8)',
      '',
      '{ client-certificate: /pki/none, client-key: /pki/own.key }',
    ],
    [
      'a key that may not be read',
      'users[0].user.client-key: cannot read "/secret": there is no permission to read it (line 8)',
      '',
      '{ client-certificate: /pki/own.pem, client-key: /secret }',
    ],
    [
      'a certificate that is none',
      'users[0].user.client-certificate: expected a certificate in PEM form (line 8)',
      '',
      '{ client-certificate: /pki/own.key, client-key: /pki/own.key }',
    ],
    [
      'a key that is none',
      'users[0].user.client-key-data: expected a private key in PEM form, not encrypted (line 8)',
      '',
      `{ client-certificate: /pki/own.pem, client-key-data: ${encode('hello')} }`,
    ],
    [
      'a key of another certificate',
      'users[0].user.client-key: it belongs to another certificate than client-certificate, expected the key of that (line 8)',
      '',
      '{ client-certificate: /pki/own.pem, client-key: /pki/other.key }',
    ],
    [
      'a token file that is not there',
      'users[0].user.tokenFile: cannot read "/etc/kubernetes/token": there is no such file (line 8)',
      '',
      '{ tokenFile: token }',
    ],
    [
      'a token file without a token',
      'users[0].user.tokenFile: "/pki/empty" is empty, expected a token in it (line 8)',
      '',
      '{ tokenFile: /pki/empty }',
    ],
    [
      'a program that is not in PATH',
      'users[0].user.exec.command: there is no program "get-secret" in PATH, expected one: see https://x (line 8)',
      '',
      plugin('command: get-secret, installHint: "see\\n https://x\\n"'),
    ],
    [
      'a program that is not where it should be',
      'users[0].user.exec.command: there is no program "/opt/none", expected one (line 8)',
      '',
      plugin('command: /opt/none'),
    ],
  ]
  for (const [name, problem, cluster, user] of bad) {
    test(`reports ${name}, with its place`, async () => assert.equal(await problemOf(cluster, user), problem))
  }

  test('reports a file that is not there', async () => {
    const problem = 'Cannot read kubeconfig "/etc/none": there is no such file'
    assert.equal(await problemOf('', '{}', '/etc/none'), problem)
  })
})
