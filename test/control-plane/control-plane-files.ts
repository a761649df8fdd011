import { createPublicKey } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { nodeIdentity, adminIdentity } from '../../src/api-server/serving/run-api-server.ts'
import { ensureKubeconfig } from '../../src/api-server/pki/client-kubeconfig.ts'
import { ensureKubeletClientCertificate } from '../../src/api-server/pki/kubelet-client-certificate.ts'
import { openPki } from '../../src/api-server/pki/open-pki.ts'
import type { Pki } from '../../src/api-server/pki/open-pki.ts'
import { ensureServingCertificate } from '../../src/api-server/pki/serving-certificate.ts'
import { systemClock } from '../../src/base/async/clock.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { toKeyPem } from '../../src/protocols/x509/certificate-files.ts'
import type { KeyedCertificate } from '../../src/protocols/x509/certificate-files.ts'

const deps = { clock: systemClock, log: silentLogger }

/** What the programs of a control plane and their clients prove themselves with; all of it of one authority of our own. */
export interface ControlPlaneFiles {
  readonly pki: Pki
  readonly authority: string
  readonly authorityKey: string
  readonly serving: FilePair
  /** With which the API server calls kubelets. */
  readonly kubeletClient: FilePair
  readonly tokenKey: string
  readonly tokenPublicKey: string
  readonly adminKubeconfig: string
  readonly agentKubeconfig: string
  readonly controllerManagerKubeconfig: string
  readonly schedulerKubeconfig: string
}

interface FilePair {
  readonly certificate: string
  readonly key: string
}

export interface ControlPlaneNames {
  /** Where the authority and its certificates are. */
  readonly pkiFolder: string
  readonly adminKubeconfig: string
  readonly agentKubeconfig: string
  /** For what only the programs read. */
  readonly folder: string
  /** As in "https://127.0.0.1:6443". */
  readonly server: string
  readonly nodeName: string
}

/** Writes what is missing of the files of a control plane. */
export async function writeControlPlaneFiles(names: ControlPlaneNames): Promise<ControlPlaneFiles> {
  const { folder, server } = names
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const pki = await openPki(names.pkiFolder, deps)
  const authorityKey = `${folder}/ca.key`
  await writeFile(authorityKey, toKeyPem(pki.authority.key), { mode: 0o600 })
  const tokenPublicKey = `${folder}/service-account.pub`
  await writeFile(tokenPublicKey, createPublicKey(pki.tokenKey).export({ type: 'spki', format: 'pem' }))
  const files = {
    pki,
    authority: `${names.pkiFolder}/ca.crt`,
    authorityKey,
    serving: await writePair(`${folder}/serving`, await ensureServingCertificate(pki, [names.nodeName], deps)),
    kubeletClient: await writePair(`${folder}/kubelet-client`, await ensureKubeletClientCertificate(pki, deps)),
    tokenKey: `${names.pkiFolder}/service-account.key`,
    tokenPublicKey,
    adminKubeconfig: names.adminKubeconfig,
    agentKubeconfig: names.agentKubeconfig,
    controllerManagerKubeconfig: `${folder}/controller-manager.kubeconfig`,
    schedulerKubeconfig: `${folder}/scheduler.kubeconfig`,
  }
  const identities = [
    adminIdentity(files.adminKubeconfig),
    nodeIdentity(files.agentKubeconfig, names.nodeName),
    { path: files.controllerManagerKubeconfig, user: 'system:kube-controller-manager', groups: [] },
    { path: files.schedulerKubeconfig, user: 'system:kube-scheduler', groups: [] },
  ]
  for (const identity of identities) await ensureKubeconfig(pki, identity, server, deps)
  return files
}

async function writePair(path: string, { certificatePem, keyPem }: KeyedCertificate): Promise<FilePair> {
  const pair = { certificate: `${path}.crt`, key: `${path}.key` }
  await writeFile(pair.certificate, certificatePem)
  await writeFile(pair.key, keyPem, { mode: 0o600 })
  return pair
}

/** The certificate, key and authority of a kubeconfig file that was written here. */
export async function readKubeconfigSecrets(
  path: string,
): Promise<{ readonly ca: string; readonly cert: string; readonly key: string }> {
  const text = await readFile(path, 'utf8')
  const find = (name: string) =>
    Buffer.from(new RegExp(`${name}-data: (\\S+)`).exec(text)?.[1] ?? '', 'base64').toString('utf8')
  return { ca: find('certificate-authority'), cert: find('client-certificate'), key: find('client-key') }
}
