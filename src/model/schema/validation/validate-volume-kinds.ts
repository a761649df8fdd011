import type { Volume } from '../../generated/core-v1.ts'
import { tryParseQuantity } from '../../resources/quantity.ts'
import type { FieldPath } from '../field-path.ts'
import { validateAnnotations, validateLabels } from './validate-metadata.ts'
import { descendingPath, dnsLabel, dnsSubdomain, noBacksteps } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'

/** Checks one kind of volume beyond its required fields. */
export type KindRule<K extends keyof Volume> = (
  source: NonNullable<Volume[K]>,
  path: FieldPath,
  problems: ProblemList,
) => void

/** Fields that must be set and not empty, by kind of volume. */
export const REQUIRED_FIELDS: Readonly<Record<Exclude<keyof Volume, 'name'>, readonly string[]>> = {
  awsElasticBlockStore: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  azureFile: ['secretName', 'shareName'],
  cephfs: ['monitors'],
  cinder: ['volumeID'],
  configMap: ['name'],
  csi: ['driver'],
  downwardAPI: [],
  emptyDir: [],
  ephemeral: ['volumeClaimTemplate'],
  fc: [],
  flexVolume: ['driver'],
  flocker: [],
  gcePersistentDisk: ['pdName'],
  gitRepo: ['repository'],
  glusterfs: ['endpoints', 'path'],
  hostPath: ['path'],
  image: ['reference'],
  iscsi: ['targetPortal', 'iqn'],
  nfs: ['server', 'path'],
  persistentVolumeClaim: ['claimName'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  projected: [],
  quobyte: ['registry', 'volume'],
  rbd: ['monitors', 'image'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  secret: ['secretName'],
  storageos: ['volumeName'],
  vsphereVolume: ['volumePath'],
}

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]
const IQN =
  /^(?:iqn\.\d{4}-\d\d\.[a-z0-9]+(?:[.-][a-z0-9]+)*(?::[^,;*&$|\s]+)?|eui\.[a-fA-F\d]{16}|naa\.[a-fA-F\d]{16}(?:[a-fA-F\d]{16})?)$/

function initiator(name: string): string | undefined {
  return IQN.test(name) ? undefined : 'must be a valid name starting with iqn, eui, or naa'
}

const emptyDir: KindRule<'emptyDir'> = (source, path, problems) => {
  if (source.sizeLimit !== undefined && (tryParseQuantity(source.sizeLimit)?.nanos ?? 0n) < 0n) {
    problems.forbidden(path.child('sizeLimit'), 'must not be negative')
  }
}

const hostPath: KindRule<'hostPath'> = (source, path, problems) => {
  problems.matches(path.child('path'), source.path, noBacksteps)
  const type = source.type ?? ''
  if (!HOST_PATH_TYPES.includes(type)) problems.unsupported(path.child('type'), type, HOST_PATH_TYPES)
}

const nfs: KindRule<'nfs'> = (source, path, problems) => {
  if (source.path && !source.path.startsWith('/')) {
    problems.invalid(path.child('path'), source.path, 'must begin with a slash')
  }
}

const iscsi: KindRule<'iscsi'> = (source, path, problems) => {
  if (source.iqn) problems.matches(path.child('iqn'), source.iqn, initiator)
  if (source.initiatorName) problems.matches(path.child('initiatorName'), source.initiatorName, initiator)
  problems.inRange(path.child('lun'), source.lun, 0, 255)
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef)
    problems.required(path.child('secretRef'))
}

const fc: KindRule<'fc'> = (source, path, problems) => {
  const names = source.targetWWNs?.length ?? 0
  const ids = source.wwids?.length ?? 0
  if (names === 0 && ids === 0) problems.required(path.child('targetWWNs'), 'must specify targetWWNs or wwids')
  if (names > 0 && ids > 0) {
    problems.invalid(path.child('targetWWNs'), source.targetWWNs, 'must not be set together with wwids')
  }
  if (names > 0 && source.lun === undefined) problems.required(path.child('lun'), 'is required with targetWWNs')
  problems.inRange(path.child('lun'), source.lun, 0, 255)
}

const partition = (source: { readonly partition?: number | undefined }, path: FieldPath, problems: ProblemList) => {
  problems.inRange(path.child('partition'), source.partition, 0, 255)
}

const gitRepo: KindRule<'gitRepo'> = (source, path, problems) => {
  problems.matches(path.child('directory'), source.directory ?? '', descendingPath)
}

const flocker: KindRule<'flocker'> = (source, path, problems) => {
  if (!source.datasetName && !source.datasetUUID) problems.required(path, 'needs datasetName or datasetUUID')
  if (source.datasetName && source.datasetUUID) {
    problems.invalid(path, source.datasetName, 'must not set both datasetName and datasetUUID')
  }
  if (source.datasetName?.includes('/') === true) {
    problems.invalid(path.child('datasetName'), source.datasetName, "may not have '/' in it")
  }
}

const quobyte: KindRule<'quobyte'> = (source, path, problems) => {
  if ((source.tenant?.length ?? 0) > 64) problems.tooLong(path.child('tenant'), 64)
  const pairs = source.registry === '' ? [] : source.registry.split(',')
  if (!pairs.every((pair) => /^.+:\d+$/.test(pair.trim()))) {
    problems.invalid(path.child('registry'), source.registry, 'must be host:port pairs separated by commas')
  }
}

const flexVolume: KindRule<'flexVolume'> = (source, path, problems) => {
  for (const key of Object.keys(source.options ?? {})) {
    if (/(?:^|\.)(?:kubernetes|k8s)\.io(?:\/|$)/.test(key.toLowerCase())) {
      problems.invalid(path.child('options').key(key), key, 'must not be in the namespaces kubernetes.io and k8s.io')
    }
  }
}

const azureDisk: KindRule<'azureDisk'> = (source, path, problems) => {
  problems.oneOf(path.child('cachingMode'), source.cachingMode, ['None', 'ReadOnly', 'ReadWrite'])
  problems.oneOf(path.child('kind'), source.kind, ['Dedicated', 'Managed', 'Shared'])
  const start = source.kind === 'Managed' ? '/subscriptions/' : 'https://'
  if (!source.diskURI.startsWith(start))
    problems.invalid(path.child('diskURI'), source.diskURI, `must start with ${start}`)
}

const storageos: KindRule<'storageos'> = (source, path, problems) => {
  if (source.volumeName) problems.matches(path.child('volumeName'), source.volumeName, dnsLabel)
  if (source.volumeNamespace) problems.matches(path.child('volumeNamespace'), source.volumeNamespace, dnsLabel)
  if (source.secretRef && !source.secretRef.name) problems.required(path.child('secretRef').child('name'))
}

const csi: KindRule<'csi'> = (source, path, problems) => {
  if (source.driver.length > 63) problems.tooLong(path.child('driver'), 63)
  else if (source.driver) problems.matches(path.child('driver'), source.driver.toLowerCase(), dnsSubdomain)
  if (source.nodePublishSecretRef) {
    problems.name(path.child('nodePublishSecretRef').child('name'), source.nodePublishSecretRef.name, dnsSubdomain)
  }
}

const image: KindRule<'image'> = (source, path, problems) => {
  problems.oneOf(path.child('pullPolicy'), source.pullPolicy, ['Always', 'IfNotPresent', 'Never'])
}

const ephemeral: KindRule<'ephemeral'> = (source, path, problems) => {
  const template = source.volumeClaimTemplate
  if (template === undefined) return
  const at = path.child('volumeClaimTemplate')
  validateLabels(template.metadata?.labels ?? {}, at.child('metadata').child('labels'), problems)
  validateAnnotations(template.metadata?.annotations ?? {}, at.child('metadata').child('annotations'), problems)
  if ((template.spec.accessModes?.length ?? 0) === 0) {
    problems.required(at.child('spec').child('accessModes'), 'a claim needs an access mode')
  }
  if (template.spec.resources?.requests?.['storage'] === undefined) {
    problems.required(at.child('spec').child('resources').child('requests').key('storage'))
  }
}

/** Rules by kind; kinds without one have only required fields, or a file of their own. */
export const KIND_RULES: { readonly [K in Exclude<keyof Volume, 'name'>]?: KindRule<K> } = {
  emptyDir,
  hostPath,
  nfs,
  iscsi,
  fc,
  awsElasticBlockStore: partition,
  gcePersistentDisk: partition,
  gitRepo,
  flocker,
  quobyte,
  flexVolume,
  azureDisk,
  storageos,
  csi,
  image,
  ephemeral,
}
