import type { Volume, VolumeProjection } from '../../../model/generated/core-v1.ts'
import type { FieldPath } from '../../../model/schema/field-path.ts'
import { warnOfFractions } from './warn-fractions.ts'
import { warningAt } from './warning-at.ts'

/** Kinds that Kubernetes has given up, by their field. */
const GIVEN_UP: readonly (readonly [field: keyof Volume, shown: string, why: string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
]

/** A file of a volume, and what it comes from; empty where the volume has one source only. */
interface VolumeFile {
  readonly file: string
  readonly source: string
}

/** Advice about the volumes of a pod. */
export function warnOfVolumes(volumes: readonly Volume[], path: FieldPath): readonly string[] {
  return [
    ...volumes.flatMap((volume, index) => [
      ...GIVEN_UP.flatMap(([field, shown, why]) =>
        volume[field] === undefined ? [] : [warningAt(path.index(index).child(shown), why)],
      ),
      ...warnOfClaimTemplate(volume, path.index(index).child('ephemeral').child('volumeClaimTemplate').child('spec')),
    ]),
    ...volumes.flatMap(warnOfOverlaps),
  ]
}

function warnOfClaimTemplate({ ephemeral }: Volume, path: FieldPath): readonly string[] {
  const { requests, limits } = ephemeral?.volumeClaimTemplate?.spec.resources ?? {}
  const at = path.child('resources')
  return [
    ...warnOfFractions(requests, at.child('requests'), ['storage']),
    ...warnOfFractions(limits, at.child('limits'), ['storage']),
  ]
}

/** Files of one volume in the same place, or one where another has a folder. */
function warnOfOverlaps({ name, configMap, secret, downwardAPI, projected }: Volume): readonly string[] {
  const filesOf = (items: readonly { readonly path: string }[] | undefined, source = '') =>
    (items ?? []).map(({ path }) => ({ file: path, source }))
  const describe = (volume: string, files: readonly VolumeFile[]) =>
    findOverlaps(files).map((overlap) => `volume ${quote(name)} (${volume}): overlapping paths: ${overlap}`)
  const sources = projected?.sources ?? []
  return [
    ...(configMap ? describe(`ConfigMap ${quote(configMap.name)}`, filesOf(configMap.items)) : []),
    ...(secret ? describe(`Secret ${quote(secret.secretName)}`, filesOf(secret.items)) : []),
    ...(downwardAPI ? describe('DownwardAPI', filesOf(downwardAPI.items)) : []),
    ...sources
      .filter((source) => Object.keys(source).length === 0)
      .map(() => `volume ${quote(name)} (Projected) has no sources provided`),
    ...describe('Projected', sources.flatMap(filesOfSource)),
  ]

  function filesOfSource(source: VolumeProjection): readonly VolumeFile[] {
    const { configMap: map, secret: kept, serviceAccountToken: token, clusterTrustBundle: trust } = source
    const { podCertificate: own } = source
    if (map?.items) return filesOf(map.items, `ConfigMap ${quote(map.name)}`)
    if (kept?.items) return filesOf(kept.items, `Secret ${quote(kept.name)}`)
    if (source.downwardAPI?.items) return filesOf(source.downwardAPI.items, 'DownwardAPI')
    if (token) return filesOf([token], 'ServiceAccountToken')
    if (trust) return filesOf([trust], `ClusterTrustBundle ${quote(trust.name ?? trust.signerName)}`)
    return [
      { file: own?.certificateChainPath ?? '', source: 'PodCertificate chain' },
      { file: own?.keyPath ?? '', source: 'PodCertificate key' },
      { file: own?.credentialBundlePath ?? '', source: 'PodCertificate credential bundle' },
    ]
  }
}

function findOverlaps(files: readonly VolumeFile[]): readonly string[] {
  const trimmed = files.map(({ file, source }) => ({ file: file.replace(/\/+$/, ''), source }))
  return trimmed.flatMap((one, index) =>
    trimmed
      .slice(0, index)
      .flatMap((other) => (isOverlap(one.file, other.file) ? [`${show(one)} with ${show(other)}`] : [])),
  )
}

function isOverlap(one: string, other: string): boolean {
  if (one === '' || other === '') return false
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`)
}

function show({ file, source }: VolumeFile): string {
  return source === '' ? quote(file) : `${quote(file)} (${source})`
}

function quote(text = ''): string {
  return JSON.stringify(text)
}
