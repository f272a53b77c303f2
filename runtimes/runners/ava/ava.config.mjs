export default { files: ['*.ava.mjs'], timeout: '2m' };
