/** What is counted of images. */
export interface ImageMetrics {
  /** An image was asked for; undefined for what was not looked at. */
  imageEnsured(request: {
    readonly policy: string
    readonly isPresent: boolean | undefined
    readonly isPulled: boolean | undefined
  }): void
  /** An image was pulled. */
  imagePulled(sizeBytes: number, seconds: number): void
  /** An image that nobody uses was removed: because it is old, or for its room. */
  imageCollected(reason: 'age' | 'space'): void
  /** Whether a pod may use an image that is there was found out: by the policy, by a record of its pull, or not at all. */
  imageChecked(result: 'credentialPolicyAllowed' | 'credentialRecordFound' | 'mustAuthenticate'): void
  /** A credential plugin was run. */
  credentialPluginRun(plugin: string, seconds: number, failed: boolean): void
}
