/** The API fills it in; a pod without it came past all defaults, and guessing could show secrets to every user. */
export function requireDefaultMode({ defaultMode }: { readonly defaultMode?: number | undefined }): number {
  if (defaultMode === undefined)
    throw new Error('Cannot choose the mode of files: no defaultMode, expected one such as 0644')
  return defaultMode
}
