/** A volume of a CSI driver as a pod uses it. */
export interface CsiVolume {
  readonly driver: string
  readonly handle: string
  readonly specName: string
  /** The same as the cluster has it, which may be an address. */
  readonly specVolID: string
  /** Written as an old kind of volume, and translated. */
  readonly isMigrated: boolean
  /** Ephemeral: written down in the pod itself, and gone with it. */
  readonly lifecycle: 'Persistent' | 'Ephemeral'
  readonly use: 'files' | 'device'
  /** Empty: the driver's own choice. */
  readonly fsType: string
  readonly readOnly: boolean
  readonly attributes: Readonly<Record<string, string>>
  readonly mountOptions: readonly string[]
  /** What it is mounted with for SELinux; empty when nothing of the kind. */
  readonly selinuxLabel: string
  readonly accessModes: readonly string[]
  readonly stageSecret: SecretKey | undefined
  readonly publishSecret: SecretKey | undefined
  readonly expandSecret: SecretKey | undefined
}

interface SecretKey {
  readonly namespace: string
  readonly name: string
}
