import { dirname, resolve } from 'node:path'
import type { FieldReader } from './field-reader.ts'
import type { ExecPlugin, KubeconfigUser } from './kubeconfig.ts'
import { readPem } from './read-pem.ts'

const VERSIONS: readonly string[] = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] satisfies ExecPlugin['apiVersion'][]
const MODES: readonly string[] = ['Never', 'IfAvailable', 'Always']

/** A context without a user. */
export const NO_CREDENTIALS: KubeconfigUser = { certificate: undefined, login: { kind: 'none' }, impersonate: {} }

/** The user of a kubeconfig file: a certificate, and at most one other way to say who it is. */
export function parseKubeconfigUser(user: FieldReader, path: string): KubeconfigUser {
  if (user.value('auth-provider') !== null) {
    throw user.fault('auth-provider', 'Kubernetes has removed these, expected an exec plugin')
  }
  return {
    certificate: parseCertificate(user, path),
    login: parseLogin(user, path),
    impersonate: parseImpersonation(user),
  }
}

function parseCertificate(user: FieldReader, path: string): KubeconfigUser['certificate'] {
  const certificate = readPem(user, 'client-certificate', path)
  const key = readPem(user, 'client-key', path)
  if (certificate === undefined && key === undefined) return undefined
  if (certificate === undefined) throw user.fault('client-certificate', 'expected one for the client-key')
  if (key === undefined) throw user.fault('client-key', 'expected one for the client-certificate')
  return { certificate, key }
}

function parseLogin(user: FieldReader, path: string): KubeconfigUser['login'] {
  const token = user.text('token')
  const tokenFile = user.text('tokenFile')
  const username = user.text('username')
  const ways = [token !== '' || tokenFile !== '', username !== '', user.value('exec') !== null]
  if (ways.filter(Boolean).length > 1) throw user.fault('', 'expected only one of token, username and exec')
  if (tokenFile !== '') {
    return { kind: 'tokenFile', path: resolve(dirname(path), tokenFile), fallback: token === '' ? undefined : token }
  }
  if (token !== '') return { kind: 'token', token }
  if (username !== '') return { kind: 'basic', username, password: user.text('password') }
  return user.value('exec') === null
    ? { kind: 'none' }
    : { kind: 'exec', plugin: parsePlugin(user.object('exec'), path) }
}

function parsePlugin(exec: FieldReader, path: string): ExecPlugin {
  const apiVersion = exec.text('apiVersion')
  if (!VERSIONS.includes(apiVersion)) throw exec.fault('apiVersion', `expected ${VERSIONS.join(' or ')}`)
  const command = exec.text('command')
  if (command === '') throw exec.fault('command', 'expected a program')
  const mode = exec.text('interactiveMode') || (apiVersion.endsWith('/v1beta1') ? 'IfAvailable' : '')
  if (!MODES.includes(mode)) throw exec.fault('interactiveMode', `expected one of ${MODES.join(', ')}`)
  if (mode === 'Always') throw exec.fault('interactiveMode', 'Always needs a terminal, which a node agent has not')
  const env = exec.objects('env').map((each) => [each.text('name'), each.text('value')] as const)
  return {
    apiVersion: apiVersion as ExecPlugin['apiVersion'],
    // A bare name is searched in PATH.
    command: command.includes('/') ? resolve(dirname(path), command) : command,
    args: exec.texts('args'),
    env: Object.fromEntries(env),
    installHint: exec.text('installHint'),
    provideClusterInfo: exec.flag('provideClusterInfo'),
  }
}

function parseImpersonation(user: FieldReader): Readonly<Record<string, string>> {
  const name = user.text('as')
  const uid = user.text('as-uid')
  for (const field of ['as-groups', 'as-user-extra']) {
    if (user.value(field) !== null) throw user.fault(field, 'not supported, expected only as and as-uid')
  }
  if (name === '' && uid !== '') throw user.fault('as-uid', 'expected the name of a user in "as"')
  return name === '' ? {} : { 'impersonate-user': name, ...(uid !== '' && { 'impersonate-uid': uid }) }
}
