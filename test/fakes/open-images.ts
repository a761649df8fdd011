/** For an ImagePuller in a world without credentials: every image is open to every pod, and no progress is reported. */
export const openImages = {
  credentials: { find: async () => ({ candidates: [], missingSecrets: [] }) },
  access: {
    mayUse: async () => true,
    begin: async () => {},
    succeed: async () => {},
    fail: async () => {},
  },
  downloads: async () => [],
  onImage: () => {},
}
