module.exports = {
  testMatch: ['<rootDir>/*.test.{cjs,mjs}'],
  moduleFileExtensions: ['js', 'cjs', 'mjs', 'json', 'node'],
  transform: {},
  testTimeout: 60_000,
};
