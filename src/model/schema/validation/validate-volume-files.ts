import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  ProjectedVolumeSource,
  VolumeProjection,
} from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { localPath } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'
import { VOLUME_FIELDS, validateFieldRef, validateResourceFieldRef } from './validate-field-refs.ts'
import { validateLabelSelector } from './validate-selectors.ts'

const MAX_MODE = 0o777
const TOKEN_SECONDS = { min: 600, max: 2 ** 32 }
const KEY_TYPES = ['ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519', 'RSA3072', 'RSA4096']
// 91 days.
const MAX_CERTIFICATE_SECONDS = 91 * 24 * 3600

/** The permission bits of a volume's files. */
export function validateMode(mode: number | undefined, path: FieldPath, problems: ProblemList): void {
  if (mode !== undefined && (mode < 0 || mode > MAX_MODE)) {
    problems.invalid(path, mode, 'must be permission bits from 0 to 0777 (octal)')
  }
}

/** Keys of a ConfigMap or Secret as files. */
export function validateKeyItems(items: readonly KeyToPath[], path: FieldPath, problems: ProblemList): void {
  for (const [index, item] of items.entries()) {
    const at = path.index(index)
    if (!item.key) problems.required(at.child('key'))
    problems.name(at.child('path'), item.path, localPath)
    validateMode(item.mode, at.child('mode'), problems)
  }
}

/** Fields of the pod as files. */
export function validateFieldItems(
  items: readonly DownwardAPIVolumeFile[],
  path: FieldPath,
  problems: ProblemList,
): void {
  for (const [index, item] of items.entries()) {
    const at = path.index(index)
    problems.name(at.child('path'), item.path, localPath)
    validateMode(item.mode, at.child('mode'), problems)
    if (item.fieldRef && item.resourceFieldRef) {
      problems.invalid(at, item.path, 'must not set both fieldRef and resourceFieldRef')
    }
    if (item.fieldRef) validateFieldRef(item.fieldRef, VOLUME_FIELDS, at.child('fieldRef'), problems)
    else if (item.resourceFieldRef) {
      validateResourceFieldRef(item.resourceFieldRef, at.child('resourceFieldRef'), problems, true)
    } else problems.required(at, 'needs fieldRef or resourceFieldRef')
  }
}

/** Several sources in one volume: each legal by itself, and no file twice. */
export function validateProjected(
  volume: ProjectedVolumeSource,
  hasServiceAccount: boolean,
  path: FieldPath,
  problems: ProblemList,
): void {
  validateMode(volume.defaultMode, path.child('defaultMode'), problems)
  const taken = new Set<string>()
  for (const [index, source] of (volume.sources ?? []).entries()) {
    const at = path.child('sources').index(index)
    if (Object.values(source).filter((each) => each !== undefined).length > 1) {
      problems.forbidden(at, 'each source has one kind')
    }
    validateProjection(source, at, problems)
    if (source.serviceAccountToken && !hasServiceAccount) {
      problems.forbidden(at.child('serviceAccountToken'), 'needs serviceAccountName')
    }
    for (const file of filesOf(source)) {
      if (taken.has(file)) problems.invalid(at, file, 'another source makes this file too')
      taken.add(file)
    }
  }
}

function filesOf(source: VolumeProjection): string[] {
  const items = [source.secret, source.configMap, source.downwardAPI].flatMap((each) => each?.items ?? [])
  const certificate = source.podCertificate
  return [
    ...items.map(({ path }) => path),
    source.serviceAccountToken?.path,
    source.clusterTrustBundle?.path,
    certificate?.credentialBundlePath,
    certificate?.keyPath,
    certificate?.certificateChainPath,
  ].filter((path): path is string => path !== undefined && path !== '')
}

function validateProjection(source: VolumeProjection, path: FieldPath, problems: ProblemList): void {
  for (const name of ['secret', 'configMap'] as const) {
    const projection = source[name]
    if (projection === undefined) continue
    if (!projection.name) problems.required(path.child(name).child('name'))
    validateKeyItems(projection.items ?? [], path.child(name).child('items'), problems)
  }
  if (source.downwardAPI) {
    validateFieldItems(source.downwardAPI.items ?? [], path.child('downwardAPI').child('items'), problems)
  }
  if (source.serviceAccountToken) {
    const at = path.child('serviceAccountToken')
    const { min, max } = TOKEN_SECONDS
    problems.inRange(at.child('expirationSeconds'), source.serviceAccountToken.expirationSeconds, min, max)
    problems.name(at.child('path'), source.serviceAccountToken.path, localPath)
  }
  if (source.clusterTrustBundle)
    validateTrustBundle(source.clusterTrustBundle, path.child('clusterTrustBundle'), problems)
  if (source.podCertificate) validateCertificate(source.podCertificate, path.child('podCertificate'), problems)
}

function validateTrustBundle(
  source: NonNullable<VolumeProjection['clusterTrustBundle']>,
  path: FieldPath,
  problems: ProblemList,
): void {
  if (source.name !== undefined && source.signerName !== undefined) {
    problems.invalid(path, source.name, 'must not have a signerName besides')
  } else if (!source.name && !source.signerName) problems.required(path, 'needs name or signerName')
  if (source.name !== undefined && source.labelSelector !== undefined) {
    problems.invalid(path.child('labelSelector'), source.labelSelector, 'has no meaning beside name')
  }
  validateLabelSelector(source.labelSelector, path.child('labelSelector'), problems)
  problems.name(path.child('path'), source.path, localPath)
}

function validateCertificate(
  source: NonNullable<VolumeProjection['podCertificate']>,
  path: FieldPath,
  problems: ProblemList,
): void {
  if (!/^[a-z0-9][-.a-z0-9]*\/[^/]+$/.test(source.signerName)) {
    problems.invalid(
      path.child('signerName'),
      source.signerName,
      'must be a domain and a path, such as example.com/signer',
    )
  }
  problems.oneOf(path.child('keyType'), source.keyType, KEY_TYPES)
  problems.inRange(path.child('maxExpirationSeconds'), source.maxExpirationSeconds, 3600, MAX_CERTIFICATE_SECONDS)
  const names = (['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const).filter((name) => source[name])
  if (names.length === 0) {
    problems.required(path, 'needs credentialBundlePath, keyPath or certificateChainPath')
  }
  for (const name of names) problems.matches(path.child(name), source[name] ?? '', localPath)
}
