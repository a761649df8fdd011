import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { KubeCredentials, CredentialsProvider } from '../transport/kube-credentials.ts'
import { ClientCertificateSource } from './client-certificate-source.ts'
import type { ClientCertificateSourceDeps } from './client-certificate-source.ts'
import { ExecCredentials } from './exec-credentials.ts'
import type { ExecCredentialsDeps } from './exec-credentials.ts'
import { KeptFile } from './kept-file.ts'
import type { FileReader } from './kept-file.ts'
import type { KubeconfigUser } from './kubeconfig.ts'

export interface CredentialsDeps
  extends Omit<ExecCredentialsDeps, 'plugin'>, Pick<ClientCertificateSourceDeps, 'onEnded'> {
  readonly files: FileReader
  readonly clock: Clock
  readonly log: Logger
}

/** A part of what makes up the credentials of a user. */
interface Source {
  current(signal: AbortSignal): Promise<KubeCredentials>
  /** The next answer is not from memory. */
  forget(): void
}

// A server that accepts no credential must not make a program run for each request.
const FORGET_EVERY_MS = 10_000

/** The credentials of the user of a kubeconfig file. Files are read again, programs are run again. */
export function createCredentials(user: KubeconfigUser, deps: CredentialsDeps): CredentialsProvider {
  const sources = [createCertificateSource(user, deps), createLoginSource(user, deps)]
  let forgotAt = -Infinity
  const current = async (signal: AbortSignal): Promise<KubeCredentials> => {
    const [own, login] = await Promise.all(sources.map((source) => source.current(signal)))
    return {
      certificate: login?.certificate ?? own?.certificate,
      headers: { ...login?.headers, ...user.impersonate },
    }
  }
  return {
    current,
    async onUnauthorized(used, signal) {
      const now = deps.clock.monotonic()
      if (isSame(await current(signal), used) && now - forgotAt >= FORGET_EVERY_MS) {
        forgotAt = now
        for (const source of sources) source.forget()
      }
      return !isSame(await current(signal), used)
    },
  }
}

function createCertificateSource({ certificate }: KubeconfigUser, deps: CredentialsDeps): Source {
  if (certificate === undefined) return fixed({})
  const source = new ClientCertificateSource(certificate, deps)
  return {
    current: async () => ({ certificate: await source.current(), headers: {} }),
    forget: () => source.forget(),
  }
}

function createLoginSource({ login }: KubeconfigUser, deps: CredentialsDeps): Source {
  switch (login.kind) {
    case 'none':
      return fixed({})
    case 'token':
      return fixed(bearer(login.token))
    case 'basic':
      return fixed({ authorization: `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}` })
    case 'tokenFile':
      return createTokenFileSource(login, deps)
    case 'exec':
      return new ExecCredentials({ ...deps, plugin: login.plugin })
  }
}

function createTokenFileSource(
  { path, fallback }: { readonly path: string; readonly fallback: string | undefined },
  { files, clock }: CredentialsDeps,
): Source {
  const file = new KeptFile(files, path, clock)
  const read = async (): Promise<string> => {
    try {
      const token = (await file.text()).trim()
      if (token !== '') return token
    } catch (error) {
      if (fallback === undefined) throw error
    }
    if (fallback === undefined) throw new Error(`Cannot use the token file "${path}": it is empty`)
    return fallback
  }
  return {
    current: async () => ({ certificate: undefined, headers: bearer(await read()) }),
    forget: () => file.forget(),
  }
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` }
}

function fixed(headers: Readonly<Record<string, string>>): Source {
  return { current: () => Promise.resolve({ certificate: undefined, headers }), forget() {} }
}

function isSame(a: KubeCredentials, b: KubeCredentials): boolean {
  return (
    a.headers['authorization'] === b.headers['authorization'] &&
    a.certificate?.certificatePem === b.certificate?.certificatePem &&
    a.certificate?.keyPem === b.certificate?.keyPem
  )
}
