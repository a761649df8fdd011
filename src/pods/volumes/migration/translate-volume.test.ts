import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type {
  CSIPersistentVolumeSource,
  NodeSelectorRequirement,
  PersistentVolume,
  PersistentVolumeSpec,
  Volume,
} from '../../../model/generated/core-v1.ts'
import { translateInlineVolume, translateVolume } from './translate-volume.ts'

const GA_ZONE = 'topology.kubernetes.io/zone'
const GA_REGION = 'topology.kubernetes.io/region'
const OLD_ZONE = 'failure-domain.beta.kubernetes.io/zone'
const OLD_REGION = 'failure-domain.beta.kubernetes.io/region'
const EBS = 'ebs.csi.aws.com'
const GCE = 'pd.csi.storage.gke.io'
const AZURE = { kind: 'Managed' }
const URI = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d'

interface Row {
  readonly name: string
  readonly spec: PersistentVolumeSpec
  readonly metadata?: PersistentVolume['metadata']
  readonly csi: CSIPersistentVolumeSource
}

const ebs = (volumeHandle: string, partition = '0') => ({
  driver: EBS,
  volumeHandle,
  readOnly: false,
  fsType: '',
  volumeAttributes: { partition },
})
const gce = (place: string) => ({
  driver: GCE,
  volumeHandle: `projects/UNSPECIFIED/${place}/disks/d`,
  readOnly: false,
  fsType: '',
  volumeAttributes: { partition: '' },
})
const secret = { name: 'px', namespace: 'kube-system' }

const persistent: readonly Row[] = [
  { name: 'EBS, bare', spec: { awsElasticBlockStore: { volumeID: 'vol-1' } }, csi: ebs('vol-1') },
  {
    name: 'EBS, with a zone',
    spec: { awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-1', partition: 3 } },
    csi: ebs('vol-1', '3'),
  },
  {
    name: 'EBS, with an empty zone, read-only and with a file system',
    spec: { awsElasticBlockStore: { volumeID: 'aws:///vol-1', readOnly: true, fsType: 'xfs' } },
    csi: { ...ebs('vol-1'), readOnly: true, fsType: 'xfs' },
  },
  { name: 'GCE without a zone', spec: { gcePersistentDisk: { pdName: 'd' } }, csi: gce('zones/UNSPECIFIED') },
  {
    name: 'GCE with a zone',
    spec: { gcePersistentDisk: { pdName: 'd' } },
    metadata: { labels: { [GA_ZONE]: 'us-central1-a' } },
    csi: gce('zones/us-central1-a'),
  },
  {
    name: 'GCE of a region, by the older label',
    spec: { gcePersistentDisk: { pdName: 'd', partition: 2 } },
    metadata: { labels: { [OLD_ZONE]: 'us-central1-a__us-central1-b', [GA_ZONE]: 'other' } },
    csi: { ...gce('regions/us-central1'), volumeAttributes: { partition: '2' } },
  },
  {
    name: 'an Azure disk',
    spec: { azureDisk: { diskName: 'd', diskURI: URI, kind: 'managed', cachingMode: 'ReadOnly', fsType: 'ext4' } },
    csi: {
      driver: 'disk.csi.azure.com',
      volumeHandle: URI,
      readOnly: false,
      fsType: 'ext4',
      volumeAttributes: { ...AZURE, cachingmode: 'ReadOnly', fstype: 'ext4' },
    },
  },
  {
    name: 'an Azure share with the namespace of its claim',
    spec: {
      azureFile: { secretName: 'azure-storage-account-acc-secret', shareName: 's', readOnly: true },
      claimRef: { namespace: 'shop' },
    },
    metadata: { annotations: { 'kubernetes.io/azure-file-resource-group': 'rg' } },
    csi: {
      driver: 'file.csi.azure.com',
      volumeHandle: 'rg#acc#s#pv-1#shop',
      readOnly: true,
      volumeAttributes: { sharename: 's' },
      nodeStageSecretRef: { name: 'azure-storage-account-acc-secret', namespace: 'shop' },
    },
  },
  {
    name: 'an Azure share with a namespace and a secret of its own',
    spec: {
      azureFile: { secretName: 'mine', secretNamespace: 'vault', shareName: 's' },
      claimRef: { namespace: 'shop' },
    },
    csi: {
      driver: 'file.csi.azure.com',
      volumeHandle: '#mine#s#pv-1#vault',
      readOnly: false,
      volumeAttributes: { sharename: 's' },
      nodeStageSecretRef: { name: 'mine', namespace: 'vault' },
    },
  },
  {
    name: 'Cinder',
    spec: { cinder: { volumeID: 'c-1', fsType: 'ext4', secretRef: { name: 'x' } } },
    csi: {
      driver: 'cinder.csi.openstack.org',
      volumeHandle: 'c-1',
      readOnly: false,
      fsType: 'ext4',
      volumeAttributes: {},
    },
  },
  {
    name: 'vSphere with a policy',
    spec: { vsphereVolume: { volumePath: '[ds] a/b.vmdk', storagePolicyName: 'gold' } },
    csi: {
      driver: 'csi.vsphere.vmware.com',
      volumeHandle: '[ds] a/b.vmdk',
      fsType: '',
      volumeAttributes: { storagepolicyname: 'gold' },
    },
  },
  {
    name: 'Portworx without a secret',
    spec: { portworxVolume: { volumeID: 'p-1', fsType: 'ext4', readOnly: true } },
    metadata: { annotations: { 'openstorage.io/auth-secret-name': 'px' } },
    csi: { driver: 'pxd.portworx.com', volumeHandle: 'p-1', fsType: 'ext4', volumeAttributes: {} },
  },
  {
    name: 'Portworx with a secret',
    spec: { portworxVolume: { volumeID: 'p-1' } },
    metadata: {
      annotations: {
        'openstorage.io/auth-secret-name': 'px',
        'openstorage.io/auth-secret-namespace': 'kube-system',
      },
    },
    csi: {
      driver: 'pxd.portworx.com',
      volumeHandle: 'p-1',
      fsType: '',
      volumeAttributes: {},
      nodeStageSecretRef: secret,
      nodePublishSecretRef: secret,
      nodeExpandSecretRef: secret,
    },
  },
]

describe('translateVolume()', () => {
  for (const { name, spec, metadata, csi } of persistent) {
    test(`gives the source of the driver: ${name}`, () => {
      const found = translateVolume({ metadata: { name: 'pv-1', ...metadata }, spec })
      assert.deepEqual(found?.spec?.csi, csi)
      assert.deepEqual(
        Object.keys(spec).filter((field) => field !== 'claimRef' && field in (found?.spec ?? {})),
        [],
      )
      assert.deepEqual(found?.metadata, { name: 'pv-1', ...metadata })
    })
  }

  for (const spec of [{ csi: { driver: 'd', volumeHandle: 'h' } }, { nfs: { server: 's', path: '/' } }, {}]) {
    test(`leaves ${JSON.stringify(spec)} as it is`, () => assert.equal(translateVolume({ spec }), undefined))
  }

  const failures: readonly (readonly [PersistentVolume, string])[] = [
    [{ spec: { awsElasticBlockStore: { volumeID: 'aws://z/disk' } } }, 'Invalid format for AWS volume (aws://z/disk)'],
    [
      { spec: { azureDisk: { diskName: 'd', diskURI: 'https://a', kind: 'Dedicated' } } },
      'kind(Dedicated) is not supported in csi migration',
    ],
    [
      { spec: { azureFile: { secretName: 's', shareName: 's' } } },
      'could not find a secret namespace in PersistentVolumeSource or ClaimRef',
    ],
    [
      { metadata: { labels: { [GA_ZONE]: 'a__b' } }, spec: { gcePersistentDisk: { pdName: 'd' } } },
      'failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: a',
    ],
    [
      { metadata: { labels: { [GA_ZONE]: 'us-a-1__us-b-1' } }, spec: { gcePersistentDisk: { pdName: 'd' } } },
      'failed to get region from zones: multiple or no regions gotten from zones, got: us-a,us-b',
    ],
  ]
  for (const [volume, why] of failures) {
    test(`fails: ${why}`, () =>
      assert.throws(() => translateVolume(volume), { message: `failed to translate in-tree pv to CSI: ${why}` }))
  }

  const modes: readonly (readonly [readonly string[] | undefined, readonly string[] | undefined])[] = [
    [['ReadWriteMany'], ['ReadWriteOnce']],
    [['ReadOnlyMany', 'ReadWriteOnce'], ['ReadWriteOnce']],
    [['ReadOnlyMany'], ['ReadOnlyMany']],
    [['ReadWriteOncePod'], ['ReadWriteOnce']],
    [undefined, undefined],
  ]
  for (const [accessModes, expected] of modes) {
    test(`takes ${String(accessModes)} of a GCE disk for ${String(expected)}`, () => {
      const found = translateVolume({ spec: { gcePersistentDisk: { pdName: 'd' }, accessModes } })
      assert.deepEqual(found?.spec?.accessModes, expected)
    })
  }
})

const zones = (key: string, ...values: string[]): NodeSelectorRequirement => ({ key, operator: 'In', values })
const disk = { awsElasticBlockStore: { volumeID: 'vol-1' } }
const vsphere = { vsphereVolume: { volumePath: 'p' } }
const KEY = `topology.${EBS}/zone`
const [VM_ZONE, VM_REGION] = ['topology.csi.vmware.com/zone', 'topology.csi.vmware.com/region']

interface TopologyRow {
  readonly name: string
  readonly source?: PersistentVolumeSpec
  readonly labels?: Readonly<Record<string, string>>
  /** What each term says. */
  readonly terms?: readonly (readonly NodeSelectorRequirement[])[]
  readonly expected: readonly (readonly NodeSelectorRequirement[])[]
}

const topology: readonly TopologyRow[] = [
  { name: 'nothing where nothing is said', expected: [] },
  { name: 'the key of the affinity', terms: [[zones(GA_ZONE, 'a')]], expected: [[zones(KEY, 'a')]] },
  {
    name: 'the older keys, and the region by its newer name',
    terms: [[zones(OLD_ZONE, 'a'), zones(OLD_REGION, 'r'), zones('other', 'x')], [zones(OLD_ZONE, 'b')]],
    expected: [[zones(KEY, 'a'), zones(GA_REGION, 'r'), zones('other', 'x')], [zones(KEY, 'b')]],
  },
  {
    name: 'the affinity before labels',
    terms: [[zones(GA_ZONE, 'a')]],
    labels: { [GA_ZONE]: 'b' },
    expected: [[zones(KEY, 'a')]],
  },
  { name: 'labels where there is no affinity', labels: { [GA_ZONE]: 'b__a__' }, expected: [[zones(KEY, 'a', 'b')]] },
  {
    name: 'the older label, added to each term',
    labels: { [OLD_ZONE]: 'a' },
    terms: [[zones('other', 'x')], []],
    expected: [[zones('other', 'x'), zones(KEY, 'a')], [zones(KEY, 'a')]],
  },
  { name: 'nothing for an empty label', labels: { [GA_ZONE]: '' }, expected: [] },
  {
    name: 'zone and region for vSphere',
    source: vsphere,
    terms: [[zones(GA_ZONE, 'a'), zones(GA_REGION, 'r')]],
    expected: [[zones(VM_ZONE, 'a'), zones(VM_REGION, 'r')]],
  },
  {
    name: 'zone and region of labels for vSphere, whole',
    source: vsphere,
    labels: { [OLD_ZONE]: 'a__b', [OLD_REGION]: 'r' },
    expected: [[zones(VM_ZONE, 'a__b'), zones(VM_REGION, 'r')]],
  },
  {
    name: 'what is said as it is, for Azure',
    source: { azureDisk: { diskName: 'd', diskURI: URI } },
    terms: [[zones(GA_ZONE, 'a')]],
    expected: [[zones(GA_ZONE, 'a')]],
  },
]

describe('translateVolume() gives the topology of the driver', () => {
  for (const { name, source = disk, labels = {}, terms, expected } of topology) {
    test(name, () => {
      const nodeSelectorTerms = terms?.map((matchExpressions) => ({ matchExpressions }))
      const nodeAffinity = nodeSelectorTerms && { required: { nodeSelectorTerms } }
      const found = translateVolume({ metadata: { labels }, spec: { ...source, nodeAffinity } })
      const said = found?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []
      assert.deepEqual(
        said.map(({ matchExpressions }) => matchExpressions),
        expected,
      )
    })
  }
})

const inline: readonly (readonly [Volume, name: string, mode: string, handle: string])[] = [
  [{ name: 'v', awsElasticBlockStore: { volumeID: 'aws:///vol-1' } }, `${EBS}-vol-1`, 'ReadWriteOnce', 'vol-1'],
  [
    { name: 'v', gcePersistentDisk: { pdName: 'd', readOnly: true } },
    `${GCE}-d`,
    'ReadOnlyMany',
    'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d',
  ],
  [{ name: 'v', azureDisk: { diskName: 'd', diskURI: URI } }, URI, 'ReadWriteOnce', URI],
  [{ name: 'v', azureFile: { secretName: 's', shareName: 'sh' } }, '#s#sh#v#shop', 'ReadWriteMany', '#s#sh#v#shop'],
  [{ name: 'v', cinder: { volumeID: 'c' } }, 'cinder.csi.openstack.org-c', 'ReadWriteOnce', 'c'],
  [
    { name: 'v', vsphereVolume: { volumePath: 'p', storagePolicyName: 'gold' } },
    'csi.vsphere.vmware.com-p',
    'ReadWriteOnce',
    'p',
  ],
  [{ name: 'v', portworxVolume: { volumeID: 'p', readOnly: true } }, 'pxd.portworx.com-p', 'ReadOnlyMany', 'p'],
]

describe('translateInlineVolume()', () => {
  for (const [volume, name, mode, handle] of inline) {
    test(`names the disk, not the volume of the pod: ${name}`, () => {
      const { metadata, spec } = translateInlineVolume(volume, 'shop') ?? {}
      assert.deepEqual(
        [metadata?.name, spec?.accessModes, spec?.volumeMode, spec?.csi?.volumeHandle],
        [name, [mode], 'Filesystem', handle],
      )
    })
  }

  test('leaves other kinds as they are', () =>
    assert.equal(translateInlineVolume({ name: 'v', emptyDir: {} }, 'shop'), undefined))
})
